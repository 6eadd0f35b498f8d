"""What people do on GitLab, and what each delivery of it asks for."""

import json
from collections.abc import Iterator

import pytest

from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Ignored, Trigger
from tests.adapters.gitlab.listening import APP, BOT, Listener, furnish, listen_to, told
from tests.fakes.clock import FakeClock
from tests.fakes.gitlab.acts.builds import Report
from tests.fakes.gitlab.acts.merges import Proposal, Remark, Spot
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.state import Level
from tests.fakes.gitlab.thread_state import ThreadKind as Kind

MERGE = Kind.MERGE_REQUEST


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def gitlab(clock: FakeClock) -> Iterator[FakeGitLab]:
    with FakeGitLab(clock=clock) as gitlab:
        furnish(gitlab)
        yield gitlab


@pytest.fixture
def listener(gitlab: FakeGitLab, clock: FakeClock) -> Listener:
    return listen_to(gitlab, clock)


@pytest.fixture
def issue(gitlab: FakeGitLab, listener: Listener) -> int:
    number = gitlab.open_issue(APP, "ann", "It breaks", "Somewhere.")
    listener.take()
    return number


@pytest.fixture
def proposal(gitlab: FakeGitLab, listener: Listener) -> int:
    gitlab.commit_files(APP, "fix", {"a.py": "1\n22\n3\n"}, author="ann")
    number = gitlab.open_merge_request(
        APP, "ann", Proposal(title="Fix it", source="fix", target="main")
    )
    listener.take()
    return number


def test_mention_in_a_new_issue_asks(gitlab: FakeGitLab, listener: Listener) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "@patchwright mend it, please")
    (asked,) = listener.read_all()
    assert isinstance(asked, Trigger)
    assert asked.key == "gitlab:group/sub/app#1:body"
    assert asked.thread == ForgeThread(
        repo=RepoRef(forge="gitlab", full_name=APP), kind=ThreadKind.ISSUE, number=1
    )
    assert (asked.request, asked.title) == ("mend it, please", "It breaks")
    assert asked.actor.external_id == str(gitlab.world.user("ann").id)
    assert asked.at is not None


def test_mention_that_an_edit_adds_asks_once(
    gitlab: FakeGitLab, listener: Listener, issue: int
) -> None:
    gitlab.edit(APP, issue, "ann", body="> @patchwright mend it")
    gitlab.edit(APP, issue, "ann", body="@patchwright mend it")
    gitlab.edit(APP, issue, "ann", body="@patchwright mend it soon")
    gitlab.edit(APP, issue, "ann", title="It breaks often")
    assert listener.hear() == [
        "ignored: no-mention",
        "body-mention app#1:body by ann: mend it",
        "ignored: no-new-mention",
        "ignored: no-mention",
    ]


def test_comment_asks_once_and_others_are_replies(
    gitlab: FakeGitLab, listener: Listener, issue: int
) -> None:
    plain = gitlab.comment(APP, issue, "ann", "I see it too")
    asks = gitlab.comment(APP, issue, "ann", "@patchwright mend it")
    gitlab.edit_comment(asks, "ann", "@patchwright mend it now")
    gitlab.edit_comment(plain, "ann", "I see it too, @patchwright mend it")
    gitlab.edit_comment(plain, "ann", "I see nothing")
    gitlab.comment(APP, issue, "ann", "See `@patchwright` <!-- @patchwright x -->")
    assert listener.hear() == [
        f"reply app#1:reply:{plain} by ann: I see it too",
        f"comment-mention app#1:comment:{asks} by ann: mend it",
        # The same name: the intake knows it, and lets it pass once.
        f"comment-mention app#1:comment:{asks} by ann: mend it now",
        f"comment-mention app#1:comment:{plain} by ann: mend it",
        "ignored: no-mention",
        (
            f"reply app#1:reply:{plain + 2} by ann: "
            "See `@patchwright` <!-- @patchwright x -->"
        ),
    ]


def test_own_notes_and_system_notes_never_ask(
    gitlab: FakeGitLab, listener: Listener, issue: int
) -> None:
    gitlab.comment(APP, issue, BOT, "@patchwright mend it")
    gitlab.comment(APP, issue, "bob", "Done. <!-- patchwright:status:1 -->")
    gitlab.edit(APP, issue, BOT, body="@patchwright mend it")
    gitlab.label(APP, issue, "patchwright", BOT)
    assert listener.hear() == [
        "ignored: own-text",
        "ignored: own-text",
        "ignored: own-text",
        "ignored: own-act",
    ]


def test_bot_of_a_token_is_told_for_a_bot(
    gitlab: FakeGitLab, listener: Listener, issue: int
) -> None:
    _, robot = gitlab.add_project_token(APP)
    gitlab.comment(APP, issue, robot, "@patchwright mend it")
    (asked,) = listener.read_all()
    assert isinstance(asked, Trigger)
    assert asked.actor.is_bot


def test_creation_and_label_within_a_second_are_two_requests(
    gitlab: FakeGitLab, listener: Listener
) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "@patchwright mend it")
    gitlab.label(APP, 1, "other", "ann")
    gitlab.label(APP, 1, "patchwright", "ann")
    gitlab.unlabel(APP, 1, "patchwright", "ann")
    assert listener.hear() == [
        "body-mention app#1:body by ann: mend it",
        "ignored: other-label",
        "label app#1:label:2030-01-01T12:00:00 by ann",
        "ignored: other-label",
    ]


def test_label_that_stays_does_not_ask_again(
    gitlab: FakeGitLab, listener: Listener, clock: FakeClock
) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "", labels=["patchwright"])
    gitlab.label(APP, 1, "urgent", "ann")
    gitlab.unlabel(APP, 1, "patchwright", "ann")
    clock.advance(60)
    gitlab.label(APP, 1, "patchwright", "ann")
    assert listener.hear() == [
        "label app#1:label:2030-01-01T12:00:00 by ann",
        "ignored: other-label",
        "ignored: other-label",
        "label app#1:label:2030-01-01T12:01:00 by ann",
    ]


def test_assignment_and_request_for_review_ask(
    gitlab: FakeGitLab, listener: Listener, issue: int, proposal: int
) -> None:
    gitlab.assign(APP, issue, ["ann"], "ann")
    gitlab.assign(APP, issue, ["ann", BOT], "ann")
    gitlab.assign(APP, issue, [BOT], "ann")
    gitlab.request_review(APP, proposal, [BOT], "ann")
    assert listener.hear() == [
        "ignored: other-assignee",
        "assignment app#1:assignment:2030-01-01T12:00:00 by ann",
        "ignored: other-assignee",
        "assignment app!1:assignment:2030-01-01T12:00:00 by ann",
    ]


def test_issue_and_merge_request_of_one_number_are_apart(
    gitlab: FakeGitLab, listener: Listener, issue: int, proposal: int
) -> None:
    assert issue == proposal
    on_issue = gitlab.comment(APP, issue, "ann", "@patchwright mend it")
    on_merge = gitlab.comment(APP, proposal, "ann", "@patchwright mend it", kind=MERGE)
    assert listener.hear() == [
        f"comment-mention app#1:comment:{on_issue} by ann: mend it",
        f"comment-mention app!1:comment:{on_merge} by ann: mend it",
    ]


def test_notes_of_one_review_are_one_request(
    gitlab: FakeGitLab, listener: Listener, proposal: int, clock: FakeClock
) -> None:
    spot = Spot(path="a.py", line=2)
    remarks = [
        Remark(spot=spot, body="@patchwright use a name"),
        Remark(spot=spot, body="And here."),
        Remark(spot=spot, body="@patchwright add a test"),
    ]
    gitlab.review(APP, proposal, "ann", remarks=remarks)
    first, _reply, second = (
        one for one in listener.read_all() if isinstance(one, Trigger)
    )
    assert first.key == second.key
    assert first.review_id == second.review_id
    assert first.post_id != second.post_id
    clock.advance(60)
    gitlab.review(APP, proposal, "ann", remarks=remarks[:1])
    (later,) = (one for one in listener.read_all() if isinstance(one, Trigger))
    assert later.key != first.key


def test_changes_wanted_of_our_own_work_may_be_a_request(
    gitlab: FakeGitLab, listener: Listener
) -> None:
    gitlab.commit_files(APP, "ours", {"a.py": "0\n"}, author=BOT)
    ours = gitlab.open_merge_request(
        APP, BOT, Proposal(title="Mend it", source="ours", target="main")
    )
    gitlab.request_review(APP, ours, ["ann"], BOT)
    listener.take()
    gitlab.review(APP, ours, "ann", state="requested_changes")
    ((headers, body),) = listener.take()
    newer = json.loads(body)
    reviewer = newer["reviewers"][0]
    # Only newer servers say who wants changes.
    older = newer | {"changes": {}}
    reading = listener.receiver.read(headers, json.dumps(older).encode())
    assert reading == Ignored(reason="no-mention")
    reading = listener.receiver.read(headers, body)
    assert told(reading) == (
        f"review app!{ours}:changes-requested:{reviewer['id']}:2030-01-01T12:00:00 "
        "by ann"
    )


def test_end_of_a_thread_is_told(
    gitlab: FakeGitLab, listener: Listener, issue: int, proposal: int
) -> None:
    gitlab.close(APP, issue, "ann")
    gitlab.reopen(APP, issue, "ann")
    gitlab.grant(APP, "ann", Level.MAINTAINER)
    gitlab.merge(APP, proposal, "ann")
    heard = listener.hear()
    assert heard[:2] == [
        "gitlab:group/sub/app#1 closed",
        "gitlab:group/sub/app#1 reopened",
    ]
    assert "gitlab:group/sub/app!1 merged" in heard
    assert "gitlab:group/sub/app main moved" in heard


def test_push_tells_the_branch_and_the_merge_request(
    gitlab: FakeGitLab, listener: Listener, proposal: int
) -> None:
    sha = gitlab.commit_files(APP, "fix", {"a.py": "4\n"}, author="ann")
    gitlab.commit_files(APP, "fix", {"a.py": "5\n"}, author=BOT)
    heard = listener.hear()
    pushed = f"pushed app!{proposal}:pushed:{sha}:2030-01-01 12:00:00 UTC by ann"
    assert pushed in heard
    assert "ignored: own-push" in heard
    assert heard.count("gitlab:group/sub/app fix moved") == 2


def test_deleted_branch_is_no_move(gitlab: FakeGitLab, listener: Listener) -> None:
    gitlab.commit_files(APP, "old", {"a.py": "4\n"}, author="ann")
    listener.take()
    gitlab.delete_branch(APP, "old", "ann")
    assert listener.hear() == ["ignored: branch-deleted"]


@pytest.mark.usefixtures("proposal")
def test_end_of_a_pipeline_is_told(gitlab: FakeGitLab, listener: Listener) -> None:
    gitlab.run_pipeline(APP, "fix", [Report(name="test", status="failed")], "ann")
    gitlab.run_pipeline(APP, "main", [Report(name="test", status="success")], "ann")
    of_merge, of_branch = (one for one in listener.hear() if "ignored" not in one)
    assert of_merge.startswith("checks app!1:checks:")
    assert of_branch == "('main',) passed"


def test_renamed_and_transferred_project_is_told(
    gitlab: FakeGitLab, listener: Listener
) -> None:
    gitlab.add_user("root", admin=True)
    gitlab.move_project(APP, "group/sub/shop", "root")
    gitlab.move_project("group/sub/shop", "other/shop", "root")
    heard = [one for one in listener.hear() if "now" in one]
    assert heard == [
        "gitlab:group/sub/app is gitlab:group/sub/shop now",
        "gitlab:group/sub/shop is gitlab:other/shop now",
    ]


def test_emoji_and_approvals_ask_nothing(
    gitlab: FakeGitLab, listener: Listener, proposal: int
) -> None:
    gitlab.award(APP, proposal, "ann", "eyes", kind=MERGE)
    gitlab.grant(APP, "bob", Level.MAINTAINER)
    gitlab.approve(APP, proposal, "bob")
    assert set(listener.hear()) == {
        "ignored: reaction-not-read",
        "ignored: approval-noted",
    }


def test_confidential_issue_says_who_may_read(
    gitlab: FakeGitLab, listener: Listener
) -> None:
    number = gitlab.open_issue(
        APP, "ann", "A leak", "@patchwright mend it", confidential=True
    )
    note = gitlab.comment(APP, number, "ann", "@patchwright soon")
    gitlab.label(APP, number, "patchwright", "ann")
    assert listener.hear() == [
        "body-mention app#1:body (confidential) by ann: mend it",
        f"comment-mention app#1:comment:{note} (confidential) by ann: soon",
        "label app#1:label:2030-01-01T12:00:00 (confidential) by ann",
    ]


def test_internal_note_says_who_may_read(
    gitlab: FakeGitLab, listener: Listener, issue: int
) -> None:
    note = gitlab.comment(APP, issue, "ann", "@patchwright soon", internal=True)
    assert listener.hear() == [
        f"comment-mention app#1:comment:{note} (internal) by ann: soon"
    ]
