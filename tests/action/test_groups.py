"""Runs that may write to the same branch wait for each other, and no others do."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from patchwright.core.commands import parse_command
from patchwright.core.text.branch_names import branch_name
from patchwright.integrations.github.ci.gate import (
    ANSWERED,
    USUAL_TEMPLATE,
    GateRequest,
    Head,
    find_group,
)
from tests.architecture.tree import ROOT
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.fake import FakeGitHub
from tests.runner.action import read_action
from tests.runner.composite import use
from tests.runner.expressions.evaluate import Status
from tests.runner.expressions.values import Value
from tests.runner.job import Job, Machine

REPO = "acme/shop"
PULL: dict[str, Value] = {"number": 9, "pull_request": {"url": "…"}}
Event = dict[str, Value]


def group(
    event: Event,
    head: Head | None = None,
    *,
    number: str = "",
    template: str = USUAL_TEMPLATE,
) -> str:
    asked = GateRequest(event, REPO, "4711", number, "@patchwright", template)
    return find_group(asked, lambda _number: head)


def nobody_is_asked(number: str) -> Head | None:
    raise AssertionError(f"GitHub was asked about {number}")


def pull(ref: str, repository: str | None = REPO) -> Event:
    repo: Value = None if repository is None else {"full_name": repository}
    return {"pull_request": {"number": 9, "head": {"ref": ref, "repo": repo}}}


def test_an_issue_is_a_group_and_nobody_is_asked() -> None:
    asked = GateRequest({"issue": {"number": 7}}, REPO, "1", "", "@p", USUAL_TEMPLATE)
    assert find_group(asked, nobody_is_asked) == "thread-7"


@pytest.mark.parametrize("number", ["7\ngroup=mine", "7/../../9", "seven", "\u0667"])
def test_what_is_no_number_makes_no_group_and_asks_nobody(number: str) -> None:
    asked = GateRequest({}, REPO, "4711", number, "@p", USUAL_TEMPLATE)
    assert find_group(asked, nobody_is_asked) == "run-4711"


def test_our_pull_request_waits_for_the_issue_that_it_is_for() -> None:
    ours = branch_name("7", "Wrong sum")
    assert group({"issue": PULL}, (ours, REPO)) == "thread-7"
    assert group(pull(ours)) == "thread-7"
    assert group({}, (ours, REPO), number="9") == "thread-7"


def test_other_pull_requests_wait_for_those_of_the_same_branch() -> None:
    assert group({"issue": PULL}, ("feature", REPO)) == "branch-feature"
    assert group(pull("feature")) == "branch-feature"


def test_a_branch_of_a_fork_is_called_as_its_owner_likes() -> None:
    assert group(pull("patchwright/7-x", "eve/shop")) == "thread-9"
    assert group(pull("patchwright/7-x", None)) == "thread-9"


def test_a_number_may_be_an_issues() -> None:
    assert group({}, None, number="7") == "thread-7"


@pytest.mark.parametrize(
    ("template", "branch", "expected"),
    [
        ("fix/{{ number }}/{{slug}}", "fix/12/sum", "thread-12"),
        ("{{date}}-{{number}}", "2026-01-31-12", "thread-12"),
        ("fix/{{slug}}", "fix/sum", "branch-fix/sum"),
        ("fix/{{number}}", "patchwright/12-sum", "thread-12"),
        ("fix/{{number}}", "patchwright-12-sum", "thread-12"),
        ("bot/{{number}}", "bot-12", "thread-12"),
        ("a.c/{{number}}", "abc/12", "branch-abc/12"),
    ],
)
def test_templates_are_read_backwards(
    template: str, branch: str, expected: str
) -> None:
    assert group(pull(branch), template=template) == expected


@pytest.mark.parametrize("verb", sorted(ANSWERED))
def test_what_only_wants_an_answer_waits_for_nobody(verb: str) -> None:
    event: Event = {
        "issue": {"number": 7},
        "comment": {"body": f"@Patchwright {verb}!"},
    }
    assert group(event) == "run-4711"
    assert parse_command(f"{verb}!") is not None


@pytest.mark.parametrize("text", ["retry", "approve", "help me with it", "status page"])
def test_what_may_write_waits(text: str) -> None:
    event: Event = {"issue": {"number": 7}, "comment": {"body": f"@patchwright {text}"}}
    assert group(event) == "thread-7"


def test_what_is_of_no_thread_is_alone() -> None:
    assert group({"schedule": "0 5 * * 1"}) == "run-4711"
    assert group({"discussion": {"number": 3}}) == "discussion-3"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as running:
        running.add_user("alice")
        running.add_repository(REPO, files={"a.txt": "a"}, private=True)
        running.grant(REPO, "alice", "write")
        yield running


def job(github: FakeGitHub, folder: Path, event: Event) -> Job:
    token = github.mint_actions_token(REPO, {"pull_requests": "read"})
    context: dict[str, Value] = {
        "event": event,
        "token": token,
        "repository": REPO,
        "run_id": "4711",
        "api_url": github.api_url,
    }
    return Job(Machine(folder, ":".join(PROGRAMS)), context, {})


PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin")
GATE = ROOT / ".github" / "actions" / "gate"
GIVEN = {"mention": "@patchwright", "branch": USUAL_TEMPLATE}


def test_the_action_asks_github_with_no_right_but_to_read_pull_requests(
    github: FakeGitHub, tmp_path: Path
) -> None:
    github.commit_files(REPO, "patchwright/7-sum", {"a.txt": "b"})
    number = github.open_pull_request(
        REPO,
        "alice",
        Proposal(head="patchwright/7-sum", base="main", title="x", body=""),
    )
    event: Event = {"issue": {**PULL, "number": number}}
    result = use(job(github, tmp_path, event), read_action(GATE), GIVEN, {})
    assert result.status is Status.SUCCESS
    assert result.outputs == {"group": "thread-7"}


def test_where_github_does_not_answer_the_number_has_to_do(
    github: FakeGitHub, tmp_path: Path
) -> None:
    github.fail_next("GET", r".*/pulls/9", 502)
    running = job(github, tmp_path, {"issue": PULL})
    assert use(running, read_action(GATE), GIVEN, {}).outputs == {"group": "thread-9"}
    assert running.log.texts("warning") == [
        "Patchwright cannot find the branch of this event: GitHub answered 502"
    ]


def test_s80_the_name_of_a_branch_cannot_start_a_new_line(
    github: FakeGitHub, tmp_path: Path
) -> None:
    event = pull("x\ngroup=mine$(touch pwned)")
    running = job(github, tmp_path, event)
    result = use(running, read_action(GATE), GIVEN, {})
    assert result.outputs == {"group": "branch-xgroup=mine$(touch pwned)"}
    assert list(tmp_path.rglob("pwned")) == []
    assert json.loads(running.machine.event_file.read_text()) == event
