"""What the fake GitHub tells is read for what people did."""

from collections.abc import Iterator

import pytest

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import (
    BaseMoved,
    Ignored,
    InstallationChanged,
    ParsedWebhook,
    RepositoryMoved,
    ThreadClosed,
    Trigger,
    TriggerKind,
)
from patchwright.integrations.github.webhooks.reader import read_delivery
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules
from tests.fakes.github.acts import (
    assignments,
    discussions,
    installations,
    moves,
    reviews,
    threads,
)
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Remark, Spot
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.webhooks.check_suites import SuiteDone, send_check_suite

REPO = "acme/shop"
LISTENING = GitHubTriggerRules(
    mention="@fixbot", label="fix me", own_login="fixbot[bot]"
)


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_user("ann")
        fake.add_repository(REPO, files={"a.txt": "1\n2\n3\n4\n5\n"})
        fake.add_app(7, "fixbot", "hush")
        fake.install_app(7, "acme", ["shop"])
        yield fake


def read_all(github: FakeGitHub) -> list[ParsedWebhook]:
    return [
        read_delivery(told.event, told.body, LISTENING) for told in github.deliveries
    ]


def triggers(github: FakeGitHub) -> list[Trigger]:
    return [one for one in read_all(github) if isinstance(one, Trigger)]


def propose(github: FakeGitHub, author: str = "ann") -> tuple[int, str]:
    """Open a pull request that changes five lines; return it and its commit."""
    sha = github.commit_files(REPO, "fix", {"a.txt": "a\nb\nc\nd\ne\n"})
    proposal = Proposal(title="Letters", head="fix", base="main")
    return github.open_pull_request(REPO, author, proposal), sha


def test_t1_review_with_five_comments_is_one_request(github: FakeGitHub) -> None:
    number, _ = propose(github)
    spots = [Spot(path="a.txt", line=line) for line in range(1, 6)]
    remarks = [Remark(spot=spot, body="@fixbot rename it") for spot in spots]
    review = reviews.submit_review(
        github.world, REPO, number, author="ann", body="@fixbot do", remarks=remarks
    )
    found = triggers(github)
    assert len(found) == 6
    assert {one.key for one in found} == {f"github:{REPO}#{number}:review:{review}"}
    assert {one.review_id for one in found} == {str(review)}


def test_t1_answer_in_a_review_thread_is_a_request(github: FakeGitHub) -> None:
    number, _ = propose(github)
    thread = reviews.comment_on(
        github.world,
        REPO,
        number,
        author="ann",
        spot=Spot(path="a.txt", line=2),
        body="Hm.",
    )
    said = reviews.answer(github.world, thread, author="ann", body="@fixbot do it")
    reply, found = triggers(github)
    assert (reply.kind, reply.request) == (TriggerKind.REPLY, "Hm.")
    assert (found.request, found.post_id) == ("do it", f"review-comment:{said}")


def test_t1_mention_that_is_edited_into_a_review_asks_once(
    github: FakeGitHub,
) -> None:
    number, _ = propose(github)
    world = github.world
    review = reviews.submit_review(world, REPO, number, author="ann", body="Hm.")
    reviews.edit_review(world, review, actor="ann", body="Hm. @fixbot do it")
    reviews.edit_review(world, review, actor="ann", body="Well. @fixbot do it")
    assert [(one.kind, one.request) for one in triggers(github)] == [
        (TriggerKind.REPLY, "Hm."),
        (TriggerKind.COMMENT_MENTION, "do it"),
    ]


def test_t1_changes_wanted_of_our_own_pull_request(github: FakeGitHub) -> None:
    number, _ = propose(github, author="fixbot[bot]")
    reviews.submit_review(
        github.world, REPO, number, author="ann", body="No.", state="CHANGES_REQUESTED"
    )
    (found,) = triggers(github)
    assert (found.kind, found.request) == (TriggerKind.REVIEW, "No.")


def test_t1_discussion_and_what_is_said_in_it(github: FakeGitHub) -> None:
    world = github.world
    talk = discussions.open_discussion(
        world, REPO, author="ann", title="How?", body="@fixbot how?"
    )
    said = discussions.discuss(world, talk.id, author="ann", body="@fixbot and why?")
    discussions.label_discussion(world, talk.id, "fix me", actor="ann")
    found = triggers(github)
    assert [one.kind for one in found] == [
        TriggerKind.BODY_MENTION,
        TriggerKind.COMMENT_MENTION,
        TriggerKind.LABEL,
    ]
    assert {one.thread.kind for one in found} == {ThreadKind.DISCUSSION}
    assert found[1].post_id == f"DC_{said.id}"


def test_t1_assignment_asks_each_time(github: FakeGitHub) -> None:
    number = github.open_issue(REPO, "ann", "A bug", "")
    assignments.assign(github.world, REPO, number, "ann", actor="ann")
    assignments.assign(github.world, REPO, number, "fixbot[bot]", actor="ann")
    (found,) = triggers(github)
    assert (found.kind, found.actor.login) == (TriggerKind.ASSIGNMENT, "ann")


def test_t2_failed_suite_of_a_pull_request(github: FakeGitHub) -> None:
    number, sha = propose(github)
    suite = SuiteDone(
        repo=REPO, branch="fix", sha=sha, conclusion="failure", actor="ann"
    )
    send_check_suite(github.world, suite)
    (found,) = triggers(github)
    assert (found.kind, found.forge_thread.number, found.head_sha) == (
        TriggerKind.CHECKS,
        number,
        sha,
    )


def test_t2_pushes_move_branches_once(github: FakeGitHub) -> None:
    sha = github.commit_files(REPO, "main", {"b.txt": "b\n"})
    moved = [one for one in read_all(github) if isinstance(one, BaseMoved)]
    assert [(one.branch, one.sha) for one in moved] == [("main", sha)]


def test_closed_and_reopened_issue(github: FakeGitHub) -> None:
    number = github.open_issue(REPO, "ann", "A bug", "")
    github.close_issue(REPO, number, "ann")
    issue = github.issue(REPO, number)
    threads.set_open(github.world, issue, actor="ann", is_open=True)
    told = [one for one in read_all(github) if isinstance(one, ThreadClosed)]
    assert [one.is_open for one in told] == [False, True]


def test_lost_access(github: FakeGitHub) -> None:
    github.add_repository("acme/other")
    mine = github.install_app(7, "acme", ["shop", "other"])
    world = github.world
    installations.take_repository(world, mine, "acme/other", actor="ann")
    installations.suspend_app(world, mine, actor="ann")
    installations.uninstall(world, mine, actor="ann")
    told = [one for one in read_all(github) if isinstance(one, InstallationChanged)]
    assert [(one.gone, [repo.full_name for repo in one.repos]) for one in told] == [
        (False, ["acme/other"]),
        (True, ["acme/shop"]),
        (True, ["acme/shop"]),
    ]
    assert {one.installation for one in told} == {str(mine)}


def test_suspended_app_hears_of_nothing_else(github: FakeGitHub) -> None:
    (mine,) = github.world.installations
    installations.suspend_app(github.world, mine, actor="ann")
    github.open_issue(REPO, "ann", "A bug", "@fixbot do")
    assert triggers(github) == []


def test_repository_that_moved_keeps_what_is_in_it(github: FakeGitHub) -> None:
    number = github.open_issue(REPO, "ann", "A bug", "")
    moves.rename(github.world, REPO, "store", actor="ann")
    moves.transfer(github.world, "acme/store", "globex", actor="ann")
    told = [one for one in read_all(github) if isinstance(one, RepositoryMoved)]
    assert [(one.old.full_name, one.new.full_name) for one in told] == [
        ("acme/shop", "acme/store"),
        ("acme/store", "globex/store"),
    ]
    assert github.issue("globex/store", number).title == "A bug"


def test_s08_the_bots_own_words_are_no_request(github: FakeGitHub) -> None:
    number, _ = propose(github)
    reviews.submit_review(
        github.world, REPO, number, author="fixbot[bot]", body="Say @fixbot retry."
    )
    assert Ignored(reason="own-text") in read_all(github)
    assert triggers(github) == []
