"""Failed checks, pushes, lost access, moved repositories: each is read for itself."""

from typing import Any

import pytest

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.threads import RepoRef, ThreadKind
from patchwright.core.types.triggers import (
    BaseMoved,
    Ignored,
    InstallationChanged,
    RepositoryMoved,
    StatusReported,
    TriggerKind,
)
from tests.unit.github.samples import (
    ANN,
    LISTENING,
    bot,
    delivery,
    read_json,
    reason_of,
    trigger_of,
)

SHOP = RepoRef(forge="github", full_name="acme/shop")
HERE = {"id": 1, "full_name": "acme/shop"}
SHA = "ab" * 20


def proposal(number: int, base: int = 1, head: int = 1, sha: str = SHA) -> Any:
    return {
        "number": number,
        "base": {"sha": "00" * 20, "repo": {"id": base}},
        "head": {"sha": sha, "repo": {"id": head}},
    }


def suite(conclusion: str | None = "failure", **fields: Any) -> dict[str, Any]:
    told = {
        "id": 5,
        "head_sha": SHA,
        "conclusion": conclusion,
        "app": {"slug": "github-actions"},
        "pull_requests": [proposal(7)],
    }
    return delivery("completed", repository=HERE, check_suite=told | fields)


@pytest.mark.parametrize("conclusion", ["failure", "timed_out", "success", None])
def test_the_end_of_a_suite_is_a_trigger(conclusion: str | None) -> None:
    """Only a look at all of them tells whether one has failed and none still runs."""
    trigger = trigger_of("check_suite", suite(conclusion) | {"installation": {"id": 9}})
    assert (trigger.key, trigger.kind, trigger.head_sha) == (
        f"github:acme/shop#7:checks:{SHA}:5",
        TriggerKind.CHECKS,
        SHA,
    )
    assert (trigger.thread.kind, trigger.installation, trigger.request) == (
        ThreadKind.PULL_REQUEST,
        "9",
        "",
    )


def test_suite_after_our_own_push_is_a_trigger() -> None:
    pushed = suite() | {"sender": bot("patchwright[bot]")}
    assert trigger_of("check_suite", pushed).actor.login == "patchwright[bot]"


def test_first_pull_request_of_this_repository_and_commit_is_meant() -> None:
    listed = [
        proposal(1, base=2),
        proposal(2, head=2),
        proposal(3, sha="cd" * 20),
        proposal(4),
        proposal(5),
    ]
    trigger = trigger_of("check_suite", suite(pull_requests=listed))
    assert trigger.forge_thread.number == 4


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (suite(pull_requests=[]), "no-pull-request"),
        (suite(app={"slug": "patchwright"}), "own-checks"),
        (suite() | {"action": "requested"}, "action-not-read"),
    ],
)
def test_other_suites_are_ignored(payload: dict[str, Any], reason: str) -> None:
    assert reason_of("check_suite", payload) == reason


def test_suite_of_an_unknown_app_is_read() -> None:
    assert trigger_of("check_suite", suite(app=None)).kind is TriggerKind.CHECKS


def status(state: str = "failure", **fields: Any) -> dict[str, Any]:
    usual = {
        "id": 5,
        "sha": SHA,
        "state": state,
        "context": "ci/old",
        "branches": [
            {"name": "behind", "commit": {"sha": "cd" * 20}},
            {"name": "fix/1", "commit": {"sha": SHA}},
        ],
        "repository": HERE,
        "sender": ANN,
    }
    return usual | fields


@pytest.mark.parametrize("state", ["failure", "error", "success"])
def test_status_is_told_for_the_branches_that_end_in_its_commit(state: str) -> None:
    told = read_json("status", status(state, installation={"id": 9}))
    assert told == StatusReported(
        repo=SHOP,
        id=5,
        sha=SHA,
        branches=("fix/1",),
        has_passed=state == "success",
        installation="9",
    )


def test_other_statuses_are_ignored() -> None:
    assert reason_of("status", status("pending")) == "checks-pending"
    assert reason_of("status", status(branches=[])) == "no-branch"
    assert reason_of("status", status(sha="ef" * 20)) == "no-branch"


def test_status_of_an_unknown_state_is_malformed() -> None:
    with pytest.raises(PayloadError, match="state"):
        read_json("status", status("on fire"))


def push(ref: str, **fields: Any) -> dict[str, Any]:
    usual = {"ref": ref, "after": SHA, "deleted": False, "repository": HERE}
    return usual | fields


def test_push_moves_a_branch() -> None:
    payload = push("refs/heads/release/1.x", installation={"id": 9})
    assert read_json("push", payload) == BaseMoved(
        repo=SHOP, branch="release/1.x", sha=SHA, installation="9"
    )


def test_other_pushes_are_ignored() -> None:
    assert reason_of("push", push("refs/tags/v1")) == "no-branch"
    assert reason_of("push", push("refs/heads/x", deleted=True)) == "branch-deleted"


@pytest.mark.parametrize("action", ["deleted", "suspend"])
def test_installation_that_is_gone_is_told(action: str) -> None:
    payload = {"action": action, "installation": {"id": 9}, "repositories": [HERE]}
    assert read_json("installation", payload) == InstallationChanged(
        installation="9", gone=True, repos=(SHOP,)
    )


def test_repositories_that_were_taken_away_are_told() -> None:
    payload = {
        "action": "removed",
        "installation": {"id": 9},
        "repositories_removed": [HERE],
    }
    assert read_json("installation_repositories", payload) == InstallationChanged(
        installation="9", gone=False, repos=(SHOP,)
    )


@pytest.mark.parametrize(
    ("event", "action"),
    [
        ("installation", "created"),
        ("installation", "unsuspend"),
        ("installation", "new_permissions_accepted"),
        ("installation_repositories", "added"),
    ],
)
def test_other_news_of_installations_is_noted(event: str, action: str) -> None:
    payload = {"action": action, "installation": {"id": 9}, "sender": ANN}
    assert reason_of(event, payload) == "installation-noted"


@pytest.mark.parametrize(
    ("action", "changes", "old"),
    [
        ("renamed", {"repository": {"name": {"from": "store"}}}, "acme/store"),
        ("transferred", {"owner": {"from": {"user": {"login": "ann"}}}}, "ann/shop"),
        (
            "transferred",
            {"owner": {"from": {"organization": {"login": "old"}}}},
            "old/shop",
        ),
    ],
)
def test_repository_that_moved_is_told(
    action: str, changes: dict[str, Any], old: str
) -> None:
    payload = {"action": action, "repository": HERE, "changes": changes}
    assert read_json("repository", payload) == RepositoryMoved(
        old=RepoRef(forge="github", full_name=old), new=SHOP, id="1"
    )


def test_other_news_of_repositories_is_ignored() -> None:
    untold = {"action": "transferred", "repository": HERE}
    assert read_json("repository", untold) == Ignored(reason="move-not-told")
    archived = {"action": "archived", "repository": HERE}
    assert reason_of("repository", archived) == "action-not-read"


@pytest.mark.parametrize("old", ["..", "a/b", ""])
def test_old_name_that_would_lead_elsewhere_is_refused(old: str) -> None:
    changes = {"repository": {"name": {"from": old}}}
    payload = {"action": "renamed", "repository": HERE, "changes": changes}
    with pytest.raises(PayloadError):
        read_json("repository", payload)


def test_without_a_login_of_our_own_nothing_is_taken_for_ours() -> None:
    unknown = LISTENING.replace(own_login="")
    assert not unknown.is_own("")
    assert not unknown.is_own("[bot]")
