"""Merge requests, reviews, pipelines and quick actions of the fake GitLab."""

from collections.abc import Iterator

import pytest
from gitlab.v4.objects import Project

from tests.fakes.gitlab import (
    MERGE_REQUEST,
    FakeGitLab,
    Level,
    Proposal,
    Remark,
    Report,
    Spot,
)
from tests.fakes.gitlab.clients import Caller, python_gitlab

REPO = "top/sub/app"
FILES = {"a.txt": "one\ntwo\nthree\n"}
PROPOSAL = Proposal(title="Two", source="topic", target="main")


@pytest.fixture
def fake() -> Iterator[FakeGitLab]:
    with FakeGitLab() as server:
        for name in ("alice", "bob"):
            server.add_user(name)
            server.grant("top", name, Level.MAINTAINER)
        server.add_project(REPO, files=FILES)
        server.commit_files(REPO, "topic", {"b.txt": "b\n"}, author="alice")
        yield server


@pytest.fixture
def alice(fake: FakeGitLab) -> Caller:
    return Caller(fake, fake.add_user("alice"))


def home(fake: FakeGitLab) -> str:
    return f"/projects/{fake.world.project(REPO).id}"


def status(fake: FakeGitLab, alice: Caller) -> str:
    shown = alice.ask("GET", f"{home(fake)}/merge_requests/1").body
    return str(shown["detailed_merge_status"])


def project(fake: FakeGitLab) -> Project:
    return python_gitlab(fake, fake.add_user("alice")).projects.get(REPO)


def test_a_title_makes_a_draft(fake: FakeGitLab) -> None:
    merges = project(fake).mergerequests
    made = merges.create(
        {"title": "Draft: Two", "source_branch": "topic", "target_branch": "main"}
    )
    assert (made.draft, made.detailed_merge_status) == (True, "draft_status")
    made.title = "Two"
    made.save()
    assert (made.draft, made.detailed_merge_status) == (False, "mergeable")


def test_a_second_one_for_the_same_branch_is_refused(
    fake: FakeGitLab, alice: Caller
) -> None:
    fake.open_merge_request(REPO, "alice", PROPOSAL)
    wanted = {"title": "Two", "source_branch": "topic", "target_branch": "main"}
    said = alice.ask("POST", f"{home(fake)}/merge_requests", wanted)
    text = "Another open merge request already exists for this source branch: !1"
    assert (said.status, said.body) == (409, {"message": [text]})


@pytest.mark.parametrize(
    ("branches", "code", "problem"),
    [
        (("main", "main"), 422, "You can't use same project/branch for source"),
        (("gone", "main"), 400, "does not exist"),
        (("topic", "gone"), 400, "does not exist"),
    ],
)
def test_branches_must_be_there_and_differ(
    fake: FakeGitLab,
    alice: Caller,
    branches: tuple[str, str],
    code: int,
    problem: str,
) -> None:
    source, target = branches
    wanted = {"title": "Two", "source_branch": source, "target_branch": target}
    said = alice.ask("POST", f"{home(fake)}/merge_requests", wanted)
    assert said.status == code
    assert problem in str(said.body)


def test_one_without_commits_cannot_be_merged(fake: FakeGitLab, alice: Caller) -> None:
    project(fake).branches.create({"branch": "empty", "ref": "main"})
    fake.open_merge_request(
        REPO, "alice", Proposal(title="Nothing", source="empty", target="main")
    )
    assert status(fake, alice) == "commits_status"


def test_a_reporter_proposes_nothing(fake: FakeGitLab) -> None:
    reporter = Caller(fake, fake.add_user("carol"))
    fake.grant(REPO, "carol", Level.REPORTER)
    wanted = {"title": "Two", "source_branch": "topic", "target_branch": "main"}
    assert reporter.ask("POST", f"{home(fake)}/merge_requests", wanted).status == 403


def test_conflicts_are_found_after_some_thought(
    fake: FakeGitLab, alice: Caller
) -> None:
    fake.commit_files(REPO, "topic", {"a.txt": "mine\n"}, author="alice")
    fake.commit_files(REPO, "main", {"a.txt": "theirs\n"}, author="bob")
    fake.open_merge_request(REPO, "alice", PROPOSAL)
    fake.ponder(REPO, 1, times=1)
    looks = [alice.ask("GET", f"{home(fake)}/merge_requests/1").body for _ in "12"]
    shown = [(one["detailed_merge_status"], one["has_conflicts"]) for one in looks]
    assert shown == [("checking", False), ("conflict", True)]


def test_approvals_that_are_required_block_until_given(
    fake: FakeGitLab, alice: Caller
) -> None:
    fake.require_approvals(REPO, 1)
    fake.open_merge_request(REPO, "alice", PROPOSAL)
    merge = f"{home(fake)}/merge_requests/1"
    assert status(fake, alice) == "not_approved"
    assert alice.ask("PUT", f"{merge}/merge").status == 405
    assert alice.ask("POST", f"{merge}/approve").status == 401
    fake.approve(REPO, 1, "bob")
    left = alice.ask("GET", f"{merge}/approvals").body
    assert (left["approvals_left"], left["approved"]) == (0, True)
    assert left["approved_by"][0]["user"]["username"] == "bob"
    fake.commit_files(REPO, "topic", {"c.txt": "c\n"}, author="alice")
    assert status(fake, alice) == "not_approved"


def test_a_review_that_wants_changes_says_so(fake: FakeGitLab, alice: Caller) -> None:
    fake.open_merge_request(REPO, "alice", PROPOSAL)
    remark = Remark(spot=Spot(path="b.txt", line=1), body="Why?")
    fake.review(REPO, 1, "bob", remarks=[remark], state="requested_changes")
    merge = f"{home(fake)}/merge_requests/1"
    assert status(fake, alice) == "requested_changes"
    [reviewer] = alice.ask("GET", f"{merge}/reviewers").body
    assert (reviewer["user"]["username"], reviewer["state"]) == (
        "bob",
        "requested_changes",
    )
    asked = {"body": "/request_review @bob"}
    said = alice.ask("POST", f"{merge}/notes", asked)
    assert (said.status, said.body["summary"]) == (202, ["Applied /request_review."])
    assert alice.ask("GET", f"{merge}/reviewers").body[0]["state"] == "unreviewed"


def test_a_discussion_of_lines_is_answered_and_resolved(fake: FakeGitLab) -> None:
    fake.open_merge_request(REPO, "alice", PROPOSAL)
    merge = project(fake).mergerequests.get(1)
    place = {
        **merge.diff_refs,
        "position_type": "text",
        "new_path": "b.txt",
        "old_path": "b.txt",
        "new_line": 1,
    }
    talk = merge.discussions.create({"body": "Why?", "position": place})
    talk.notes.create({"body": "Because."})
    talk.resolved = True
    talk.save()
    [found] = merge.discussions.list(get_all=True)
    first, second = found.attributes["notes"]
    assert (first["type"], second["type"]) == ("DiffNote", "DiffNote")
    assert first["position"]["new_line"] == second["position"]["new_line"] == 1
    assert (first["resolved"], first["resolved_by"]["username"]) == (True, "alice")


def test_a_line_that_is_not_in_the_diff_is_refused(
    fake: FakeGitLab, alice: Caller
) -> None:
    fake.open_merge_request(REPO, "alice", PROPOSAL)
    merge = f"{home(fake)}/merge_requests/1"
    refs = alice.ask("GET", merge).body["diff_refs"]
    place = {**refs, "position_type": "text", "new_path": "z.txt", "new_line": 1}
    wanted = {"body": "Why?", "position": place}
    said = alice.ask("POST", f"{merge}/discussions", wanted)
    assert said.status == 400
    assert "must be a valid line code" in said.body["message"]


def test_an_answer_makes_a_discussion_of_a_note(
    fake: FakeGitLab, alice: Caller
) -> None:
    fake.open_merge_request(REPO, "alice", PROPOSAL)
    fake.comment(REPO, 1, "bob", "Please.", kind=MERGE_REQUEST)
    talks = f"{home(fake)}/merge_requests/1/discussions"
    [talk] = alice.ask("GET", talks).body
    assert talk["individual_note"] is True
    alice.ask("POST", f"{talks}/{talk['id']}/notes", {"body": "Done."})
    [talk] = alice.ask("GET", talks).body
    assert talk["individual_note"] is False
    assert [one["type"] for one in talk["notes"]] == ["DiscussionNote"] * 2


def test_orders_in_a_text_are_obeyed_and_taken_out(
    fake: FakeGitLab, alice: Caller
) -> None:
    fake.open_issue(REPO, "bob", "Wrong sum", "")
    text = 'Done.\n/label ~bug ~"to do"\n```\n/close\n```\n<!--\n/close\n-->'
    notes = f"{home(fake)}/issues/1/notes"
    said = alice.ask("POST", notes, {"body": text})
    assert said.body["body"] == "Done.\n```\n/close\n```\n<!--\n/close\n-->"
    assert fake.thread(REPO, 1).labels == ("bug", "to do")
    assert fake.thread(REPO, 1).is_open
    assert alice.ask("POST", notes, {"body": "/close"}).status == 202
    assert not fake.thread(REPO, 1).is_open
    assert len(fake.comments(REPO, 1)) == 1


def test_orders_of_who_may_not_come_to_nothing(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "bob", "Wrong sum", "")
    eve = Caller(fake, fake.add_user("eve"))
    eve.ask("POST", f"{home(fake)}/issues/1/notes", {"body": "Ha.\n/close"})
    assert fake.thread(REPO, 1).is_open


def test_jobs_and_statuses_make_a_pipeline(fake: FakeGitLab, alice: Caller) -> None:
    fake.open_merge_request(REPO, "alice", PROPOSAL)
    reports = [
        Report(name="unit", trace="E: no\n"),
        Report(name="lint", allow_failure=True),
        Report(name="build", status="success"),
    ]
    pipeline = fake.run_pipeline(REPO, "topic", reports, "alice")
    jobs = alice.ask("GET", f"{home(fake)}/pipelines/{pipeline.id}/jobs").body
    names = [(one["name"], one["status"], one["allow_failure"]) for one in jobs]
    assert names == [
        ("unit", "failed", False),
        ("lint", "failed", True),
        ("build", "success", False),
    ]
    trace = alice.ask("GET", f"{home(fake)}/jobs/{jobs[0]['id']}/trace")
    assert trace.body == b"E: no\n"
    wanted = {"state": "success", "name": "Patchwright", "target_url": "https://b.test"}
    path = f"{home(fake)}/statuses/{pipeline.sha}"
    assert alice.ask("POST", path, wanted).status == 201
    said = alice.ask("POST", path, wanted)
    assert (said.status, "Cannot transition status" in str(said.body)) == (400, True)
    commit = f"{home(fake)}/repository/commits/{pipeline.sha}"
    listed = alice.ask("GET", f"{commit}/statuses").body
    assert [one["name"] for one in listed] == ["unit", "lint", "build", "Patchwright"]
    head = alice.ask("GET", f"{home(fake)}/merge_requests/1").body["head_pipeline"]
    assert (head["id"], head["status"]) == (pipeline.id, "failed")


def test_a_fork_proposes_to_what_it_came_from(fake: FakeGitLab) -> None:
    eve = Caller(fake, fake.add_user("eve"))
    there = fake.fork(REPO, "eve")
    fake.commit_files(there, "fix", {"c.txt": "c\n"}, author="eve")
    fork, target = fake.world.project(there).id, fake.world.project(REPO).id
    wanted = {
        "title": "Three",
        "source_branch": "fix",
        "target_branch": "main",
        "target_project_id": target,
        "allow_collaboration": True,
    }
    made = eve.ask("POST", f"/projects/{fork}/merge_requests", wanted).body
    ids = (made["source_project_id"], made["target_project_id"], made["project_id"])
    assert ids == (fork, target, target)
    [seen] = fake.merge_requests(REPO)
    assert (seen.head_repo, seen.allow_collaboration) == ("eve/app", True)


def test_issues_know_what_closes_them(fake: FakeGitLab, alice: Caller) -> None:
    fake.open_issue(REPO, "bob", "Wrong sum", "")
    proposal = Proposal(
        title="Two", source="topic", target="main", description="Closes #1"
    )
    fake.open_merge_request(REPO, "alice", proposal)
    issue, merge = f"{home(fake)}/issues/1", f"{home(fake)}/merge_requests/1"
    related = alice.ask("GET", f"{issue}/related_merge_requests").body
    closing = alice.ask("GET", f"{issue}/closed_by").body
    closed = alice.ask("GET", f"{merge}/closes_issues").body
    assert [one["iid"] for one in (*related, *closing, *closed)] == [1, 1, 1]


def test_files_and_commits_are_read(fake: FakeGitLab) -> None:
    found = project(fake)
    assert found.files.raw("a.txt", ref="main") == FILES["a.txt"].encode()
    assert found.files.get("b.txt", ref="topic").decode() == b"b\n"
    compared = found.repository_compare("main", "topic")
    assert isinstance(compared, dict)
    assert [one["new_path"] for one in compared["diffs"]] == ["b.txt"]
    assert [one.name for one in found.branches.list()] == ["main", "topic"]
    assert found.branches.get("main").protected is True
    assert found.protectedbranches.get("main").push_access_levels[0][
        "access_level"
    ] == int(Level.MAINTAINER)
