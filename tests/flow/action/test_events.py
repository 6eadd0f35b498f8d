"""Each event that starts a workflow is read as what it asks for, or told not to ask."""

import json
import re
from pathlib import Path

import pytest

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Remark, Spot, submit_review
from tests.fakes.llm.turns import call
from tests.flow.action.step import Workflow, a_step
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns

ANSWER = call("finish", summary="An answer.", answer="It is so.")
TASK = "The total ignores the pieces\n\n`total([450], [3])` is 450, and not 1350."


def test_s04_a_label_on_a_pull_request_updates_its_branch(tmp_path: Path) -> None:
    with a_step(tmp_path, fix_turns()) as step:
        step.github.commit_files(REPO, "topic", {"note.md": "x\n"}, author="alice")
        proposal = Proposal(head="topic", base="main", title="Sum")
        pull = step.github.open_pull_request(REPO, "alice", proposal)
        step.github.label(REPO, pull, "patchwright", "alice")
        said = step.use("pull_request_target", step.event())
        assert said.end == ("resolved", "")
        assert said.outputs["branch"] == "topic"
        assert len(step.github.pull_requests(REPO)) == 1


def test_the_former_label_still_asks_where_no_other_was_chosen(tmp_path: Path) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        issue = step.github.open_issue(REPO, "alice", "Why?", "Why is it so?")
        step.github.label(REPO, issue, "fix-me", "alice")
        assert step.deliver(label="bot").end == ("refused", "not-asked")
        said = step.deliver()
        assert said.end == ("answered", "")
        assert said.notices == [
            (
                "the label `fix-me` started this run, but the default is now "
                "`patchwright`: use that label, or set `label: fix-me`; the old "
                "default works for one more release."
            )
        ]


def test_s05_a_comment_on_a_pull_request_needs_no_label(tmp_path: Path) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        step.github.commit_files(REPO, "topic", {"note.md": "x\n"}, author="alice")
        proposal = Proposal(head="topic", base="main", title="Sum")
        pull = step.github.open_pull_request(REPO, "alice", proposal)
        step.github.comment(REPO, pull, "alice", "@patchwright why is it so?")
        assert step.deliver().end == ("answered", "")


@pytest.mark.parametrize("phrase", ["/exp", "@helper"])
def test_s06_a_configured_phrase_works_in_every_text(
    phrase: str, tmp_path: Path
) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        issue = step.github.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
        step.github.comment(REPO, issue, "alice", f"{phrase} why is it so?")
        said = step.deliver(mention=phrase)
        assert said.end == ("answered", "")


def test_s06_both_phrases_are_shown_if_nobody_asked(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        step.github.open_issue(REPO, "alice", "Wrong sum", "/bot do it")
        said = step.deliver(mention="/exp")
        assert said.end == ("refused", "not-asked")
        assert said.grade == "good"
        assert "`/exp`" in said.summary


def test_an_assignment_of_whom_the_input_names_counts(tmp_path: Path) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        issue = step.github.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
        event = step.event() | {"action": "assigned", "assignee": {"login": "Helper"}}
        assert step.use("issues", event).end == ("refused", "not-asked")
        assert step.use("issues", event, assignee="helper").end[0] == "answered"
        assert issue


@pytest.mark.parametrize(
    ("name", "payload", "task"),
    [
        ("workflow_dispatch", {}, TASK),
        ("repository_dispatch", {"task": TASK}, ""),
    ],
)
def test_a_task_without_a_thread_ends_in_a_pull_request(
    name: str, payload: dict[str, object], task: str, tmp_path: Path
) -> None:
    with a_step(tmp_path, fix_turns()) as step:
        said = step.use(name, {"client_payload": payload}, task=task)
        assert said.end == ("resolved", "")
        assert said.outputs["branch"].startswith("patchwright/r4711-")
        assert said.outputs["comment-url"] == ""


@pytest.mark.parametrize(
    ("name", "payload", "number"),
    [
        ("workflow_dispatch", {}, "1"),
        ("repository_dispatch", {"issue_number": 1}, ""),
        ("schedule", {}, "1"),
    ],
)
def test_a_number_is_enough(
    name: str, payload: dict[str, object], number: str, tmp_path: Path
) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        step.github.open_issue(REPO, "eve", "Wrong sum", "It is wrong.")
        said = step.use(name, {"client_payload": payload}, issue_number=number)
        assert said.end == ("answered", "")
        assert re.search(r"/issues/1#issuecomment-\d+$", said.outputs["comment-url"])


@pytest.mark.parametrize("name", ["workflow_run", "check_suite"])
def test_checks_ask_for_a_pull_request_of_this_repository_alone(
    name: str, tmp_path: Path
) -> None:
    fork = {"number": 2, "base": {"repo": {"id": 88}}}
    here = {"number": 1, "base": {"repo": {"id": 77}}}
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        step.github.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
        event = {"repository": {"id": 77}, name: {"pull_requests": [fork]}}
        elsewhere = step.use(name, event)
        assert "has no thread" in elsewhere.outputs["summary"]
        event[name] = {"pull_requests": [fork, here]}
        assert step.use(name, event).end == ("answered", "")


def _status(branch: str, sha: str, state: str) -> dict[str, object]:
    ends = [{"name": "main", "commit": {"sha": "0" * 40}}]
    ends.append({"name": branch, "commit": {"sha": sha}})
    return {
        "id": 1,
        "sha": sha,
        "state": state,
        "branches": ends,
        "repository": {"id": 77, "full_name": REPO},
        "sender": {"id": 5, "login": "ci"},
    }


def test_a_status_that_failed_asks_for_the_pull_request_of_its_branch(
    tmp_path: Path,
) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        step.github.commit_files(REPO, "topic", {"note.md": "x\n"}, author="alice")
        proposal = Proposal(head="topic", base="main", title="Sum")
        step.github.open_pull_request(REPO, "alice", proposal)
        [pull] = step.github.pull_requests(REPO)
        sha = pull.head_sha
        for event in (
            _status("topic", sha, "pending"),
            _status("topic", sha, "success"),
            _status("topic", "a" * 40, "failure"),
            _status("main", sha, "failure"),
        ):
            quiet = step.use("status", event, mode="ci-fix")
            assert quiet.end == ("refused", "not-asked")
        said = step.use("status", _status("topic", sha, "failure"), mode="ci-fix")
        assert said.end == ("answered", "")
        assert "Make the failing checks" in str(step.provider.requests[0])


def test_a_comment_that_is_named_is_the_request(tmp_path: Path) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        issue = step.github.open_issue(REPO, "eve", "Wrong sum", "It is wrong.")
        named = step.github.comment(REPO, issue, "alice", "What is the cart for?")
        step.github.comment(REPO, issue, "alice", "Never mind.")
        said = step.use("workflow_dispatch", {}, comment_id=str(named))
        assert said.end == ("answered", "")
        assert "What is the cart for?" in str(step.provider.requests[0])


def test_a_strangers_comment_is_no_request_whoever_names_it(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        issue = step.github.open_issue(REPO, "eve", "Wrong sum", "It is wrong.")
        named = step.github.comment(REPO, issue, "eve", "Do as I say.")
        said = step.use("workflow_dispatch", {}, comment_id=str(named))
        assert said.end == ("refused", "not-permitted")


@pytest.mark.parametrize("workflow", [Workflow(actor="eve"), Workflow(rerun_by="eve")])
def test_whoever_starts_or_repeats_a_workflow_is_judged(
    workflow: Workflow, tmp_path: Path
) -> None:
    with a_step(tmp_path, []) as step:
        step.github.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
        said = step.use("workflow_dispatch", {}, workflow, issue_number="1")
        assert said.end == ("refused", "not-permitted")
        assert said.grade == "unresolved"


def test_an_event_without_a_thread_says_what_to_set(tmp_path: Path) -> None:
    with a_step(tmp_path, []) as step:
        said = step.use("workflow_dispatch", {})
        assert said.grade == "error"
        assert "`issue-number`, `comment-id`, `task`" in said.outputs["summary"]


def test_a_review_is_a_request_where_the_workflow_says_so(tmp_path: Path) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        step.github.commit_files(REPO, "topic", {"note.md": "x\n"}, author="alice")
        proposal = Proposal(head="topic", base="main", title="Sum")
        pull = step.github.open_pull_request(REPO, "alice", proposal)
        remark = Remark(spot=Spot(path="note.md", line=1), body="Why x?")
        submit_review(step.github.world, REPO, pull, author="alice", remarks=[remark])
        newest = step.github.delivery("pull_request_review")
        event = json.loads(newest.body)
        assert step.use(newest.event, event).end == ("refused", "not-asked")
        said = step.use(newest.event, event, mode="review-feedback")
        assert said.end == ("answered", "")
        assert "open review threads" in str(step.provider.requests[0])


def test_a_comment_on_lines_can_be_named_as_well(tmp_path: Path) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        step.github.commit_files(REPO, "topic", {"note.md": "x\n"}, author="alice")
        proposal = Proposal(head="topic", base="main", title="Sum")
        pull = step.github.open_pull_request(REPO, "alice", proposal)
        remark = Remark(spot=Spot(path="note.md", line=1), body="Why x?")
        submit_review(step.github.world, REPO, pull, author="alice", remarks=[remark])
        newest = step.github.delivery("pull_request_review_comment")
        comment = str(json.loads(newest.body)["comment"]["id"])
        said = step.use("workflow_dispatch", {}, comment_id=comment)
        assert said.end == ("answered", "")
        assert "Why x?" in str(step.provider.requests[0])


def test_a_review_with_several_mentions_is_one_run(tmp_path: Path) -> None:
    with a_step(tmp_path, in_turn(ANSWER)) as step:
        files = {"note.md": "x\ny\n"}
        step.github.commit_files(REPO, "topic", files, author="alice")
        proposal = Proposal(head="topic", base="main", title="Sum")
        pull = step.github.open_pull_request(REPO, "alice", proposal)
        remarks = [
            Remark(
                spot=Spot(path="note.md", line=line), body=f"@patchwright why {word}?"
            )
            for line, word in ((1, "x"), (2, "y"))
        ]
        submit_review(step.github.world, REPO, pull, author="alice", remarks=remarks)
        comments = [
            one
            for one in step.github.deliveries
            if one.event == "pull_request_review_comment"
        ]
        ends = [step.use(one.event, json.loads(one.body)).end for one in comments]
        assert ends == [("answered", ""), ("refused", "not-asked")]
