"""People's rights fail closed; there is one pull request for a branch."""

import pytest

from patchwright.core.forge import PullRequestText
from patchwright.core.types.errors import (
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import PullRequest, RepoRef
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.github.conftest import SHOP, connect
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.fake import FakeGitHub

DRAFT = PullRequestText(title="Fix the sum", body="Closes #1", draft=True)
READY = PullRequestText(title="Fix the sum", body="Closes #1, proven", draft=False)


def someone(login: str, external_id: str = "") -> Actor:
    return Actor(service="github", login=login, external_id=external_id)


@pytest.fixture
def branch(fake: FakeGitHub) -> str:
    fake.commit_files("acme/shop", "bot/fix", {"a.py": "2\n"}, author="ann")
    return "bot/fix"


def open_draft(github: GitHub, branch: str) -> PullRequest:
    return github.forge.open_pull_request(SHOP, branch, "trunk", DRAFT)


@pytest.mark.parametrize("role", ["read", "triage", "write", "maintain", "admin"])
def test_role_is_the_permission(fake: FakeGitHub, as_app: GitHub, role: str) -> None:
    fake.add_user("bo")
    fake.grant("acme/shop", "bo", role)
    assert as_app.forge.fetch_permission(SHOP, someone("bo")) == Permission(role)


def test_role_an_organization_made_counts_as_what_it_is_based_on(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.add_user("bo")
    fake.grant("acme/shop", "bo", "write", role_name="release-captain")
    found = as_app.forge.fetch_permission(SHOP, someone("bo"))
    assert found is Permission.WRITE


def test_s09_stranger_may_read_what_is_public_and_no_more(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.add_user("eve")
    found = as_app.forge.fetch_permission(SHOP, someone("eve"))
    assert found is Permission.READ


def test_s09_account_that_does_not_exist_may_do_nothing(as_app: GitHub) -> None:
    found = as_app.forge.fetch_permission(SHOP, someone("nobody/../x"))
    assert found is Permission.NONE


def test_s09_login_that_passed_to_someone_else_may_do_nothing(as_app: GitHub) -> None:
    found = as_app.forge.fetch_permission(SHOP, someone("ann", "999999"))
    assert found is Permission.NONE


def test_s09_no_answer_about_a_permission_means_no(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.fail_next("GET", r"/permission$", 500, times=9)
    with pytest.raises(ServiceUnavailableError):
        as_app.forge.fetch_permission(SHOP, someone("ann"))


def test_s09_answer_of_another_shape_is_no_permission(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.fail_next("GET", r"/permission$", 200, body={"role": "admin"})
    with pytest.raises(ServiceError, match="unexpected shape"):
        as_app.forge.fetch_permission(SHOP, someone("ann"))


def test_s33_default_branch_is_read(fake: FakeGitHub, as_app: GitHub) -> None:
    found = as_app.forge.fetch_repository(SHOP)
    assert found.default_branch == "trunk"
    assert found.clone_url == f"{fake.web_url}/acme/shop.git"
    assert found.web_url == f"{fake.web_url}/acme/shop"
    assert not found.private


def test_pull_request_is_opened_as_draft(
    fake: FakeGitHub, as_app: GitHub, branch: str
) -> None:
    opened = open_draft(as_app, branch)
    (seen,) = fake.pull_requests("acme/shop")
    assert opened == PullRequest(
        number=seen.number,
        url=f"{fake.web_url}/acme/shop/pull/{seen.number}",
        head_branch="bot/fix",
        base_branch="trunk",
        head_sha=seen.head_sha,
        draft=True,
        same_repository=True,
        head_repo=SHOP,
        conflicts=False,
        author="patchwright[bot]",
        title="Fix the sum",
        body="Closes #1",
    )
    assert (seen.author, seen.draft, seen.body) == (
        "patchwright[bot]",
        True,
        "Closes #1",
    )
    assert as_app.forge.fetch_pull_request(SHOP, seen.number) == opened
    assert as_app.forge.find_pull_request(SHOP, branch) == opened


def test_s35_opening_again_updates_the_first(
    fake: FakeGitHub, as_app: GitHub, branch: str
) -> None:
    first = open_draft(as_app, branch)
    second = as_app.forge.open_pull_request(SHOP, branch, "trunk", READY)
    assert second == first.replace(draft=False, body=READY.body)
    (seen,) = fake.pull_requests("acme/shop")
    assert (seen.body, seen.draft) == ("Closes #1, proven", False)


def test_update_turns_ready_into_draft(
    fake: FakeGitHub, as_app: GitHub, branch: str
) -> None:
    opened = as_app.forge.open_pull_request(SHOP, branch, "trunk", READY)
    updated = as_app.forge.update_pull_request(SHOP, opened.number, DRAFT)
    assert updated.draft
    (seen,) = fake.pull_requests("acme/shop")
    assert (seen.body, seen.draft) == ("Closes #1", True)


def test_update_stands_though_the_draft_cannot_be_turned(
    fake: FakeGitHub, as_app: GitHub, branch: str
) -> None:
    opened = open_draft(as_app, branch)
    refusal = {"data": None, "errors": [{"type": "FORBIDDEN", "message": "no"}]}
    fake.fail_next("POST", r"/graphql$", 200, body=refusal)
    updated = as_app.forge.update_pull_request(SHOP, opened.number, READY)
    assert updated.draft
    assert fake.pull_requests("acme/shop")[0].body == "Closes #1, proven"


def test_plan_without_drafts_gets_a_ready_pull_request(
    fake: FakeGitHub, as_app: GitHub, branch: str
) -> None:
    fake.fail_next(
        "POST",
        r"/pulls$",
        422,
        body={
            "message": "Draft pull requests are not supported in this repository.",
        },
    )
    assert not open_draft(as_app, branch).draft
    assert not fake.pull_requests("acme/shop")[0].draft


def test_closed_pull_request_is_not_found(
    fake: FakeGitHub, as_app: GitHub, branch: str
) -> None:
    opened = open_draft(as_app, branch)
    fake.close_issue("acme/shop", opened.number, "ann")
    assert as_app.forge.find_pull_request(SHOP, branch) is None


def test_branch_of_the_same_name_in_a_fork_is_another(
    fake: FakeGitHub, as_app: GitHub, branch: str
) -> None:
    fake.add_user("eve")
    fake.fork("acme/shop", "eve")
    fake.commit_files("eve/shop", branch, {"a.py": "3\n"}, author="eve")
    proposal = Proposal(title="Mine", head=f"eve:{branch}", base="trunk")
    number = fake.open_pull_request("acme/shop", "eve", proposal)
    assert as_app.forge.find_pull_request(SHOP, branch) is None
    assert not as_app.forge.fetch_pull_request(SHOP, number).same_repository


def test_s33_wrong_base_is_named(as_app: GitHub, branch: str) -> None:
    with pytest.raises(ServiceError, match="Validation Failed; base: invalid"):
        as_app.forge.open_pull_request(SHOP, branch, "main", DRAFT)


def test_s37_actions_that_may_not_open_pull_requests_are_denied(
    fake: FakeGitHub, branch: str
) -> None:
    fake.forbid_actions_pull_requests()
    permissions = {"contents": "write", "pull_requests": "write"}
    github = connect(fake, fake.mint_actions_token("acme/shop", permissions))
    try:
        with pytest.raises(PermissionDeniedError, match="not permitted to create"):
            open_draft(github, branch)
    finally:
        github.close()


def test_missing_pull_request_is_not_found(as_app: GitHub) -> None:
    with pytest.raises(NotFoundError):
        as_app.forge.fetch_pull_request(SHOP, 404)


def test_private_repository_of_others_is_not_found(
    fake: FakeGitHub, as_user: GitHub
) -> None:
    fake.add_repository("acme/secret", private=True)
    with pytest.raises(NotFoundError):
        as_user.forge.fetch_repository(RepoRef(forge="github", full_name="acme/secret"))
