"""However somebody asks: one run, which hears the words and answers in its thread."""

from collections.abc import Callable
from pathlib import Path

import pytest

from patchwright.core.types.triggers import TriggerKind
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.assignments import assign
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Spot
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, Story, telling

PLAIN = "Three pieces cost as much as one."
WISH = f"@patchwright why is that? {PLAIN}"
ANSWER = call("finish", summary="Looked.", answer="The pieces are not counted.")
NOTE = [
    call("write", path="note.txt", content="Done.\n"),
    call("finish", title="Add a note", summary="Added a note."),
]


def open_pull(story: Story, body: str = "My own words.") -> int:
    story.github.commit_files(REPO, "work", {"x.py": "x = 1\n"}, author="alice")
    proposal = Proposal(title="Try x", head="work", base="main", body=body)
    return story.github.open_pull_request(REPO, "alice", proposal)


def in_an_issue(story: Story) -> int:
    return story.github.open_issue(REPO, "alice", "Wrong sum", WISH)


def in_a_comment(story: Story) -> int:
    issue = story.github.open_issue(REPO, "eve", "Wrong sum", PLAIN)
    story.github.comment(REPO, issue, "alice", WISH)
    return issue


def in_a_pull_request(story: Story) -> int:
    return open_pull(story, WISH)


def below_a_pull_request(story: Story) -> int:
    pull = open_pull(story)
    story.github.comment(REPO, pull, "alice", WISH)
    return pull


def in_a_review(story: Story) -> int:
    pull = open_pull(story)
    world = story.github.world
    reviews.submit_review(world, REPO, pull, author="alice", body=WISH)
    return pull


def at_a_line(story: Story) -> int:
    pull = open_pull(story)
    spot = Spot(path="x.py", line=1)
    world = story.github.world
    reviews.comment_on(world, REPO, pull, author="alice", spot=spot, body=WISH)
    return pull


def by_a_label(story: Story) -> int:
    issue = story.github.open_issue(REPO, "eve", "Wrong sum", PLAIN)
    story.github.label(REPO, issue, "patchwright", "alice")
    return issue


def by_a_label_on_a_pull_request(story: Story) -> int:
    pull = open_pull(story, PLAIN)
    story.github.label(REPO, pull, "patchwright", "alice")
    return pull


MENTIONS = [
    in_an_issue,
    in_a_comment,
    in_a_pull_request,
    below_a_pull_request,
    in_a_review,
    at_a_line,
]
LABELS = [by_a_label, by_a_label_on_a_pull_request]


@pytest.mark.parametrize("ask", [*MENTIONS, *LABELS], ids=lambda one: one.__name__)
def test_whoever_asks_is_answered_there_and_once(
    tmp_path: Path, ask: Callable[[Story], int]
) -> None:
    with telling(tmp_path, in_turn(ANSWER)) as story:
        number = ask(story)
        for delivery in story.github.deliveries:
            assert story.deliver(delivery).status in {200, 202}
        story.work()
        assert "The pieces are not counted." in story.reply(number)
        assert PLAIN in asked(story.provider.requests[0])
        [job] = story.jobs()
        trigger = job.trigger
        assert (trigger.forge_thread.number, trigger.actor.login) == (number, "alice")
        assert (trigger.kind is TriggerKind.LABEL) is (ask in LABELS)


def edit_the_issue(story: Story) -> tuple[int, Callable[[str], None]]:
    issue = story.github.open_issue(REPO, "alice", "Wrong sum", PLAIN)
    return issue, lambda text: story.github.edit_issue(REPO, issue, "alice", body=text)


def edit_a_comment(story: Story) -> tuple[int, Callable[[str], None]]:
    issue = story.github.open_issue(REPO, "eve", "Wrong sum", "It is wrong.")
    comment = story.github.comment(REPO, issue, "alice", PLAIN)
    return issue, lambda text: story.github.edit_comment(comment, "alice", text)


def edit_the_pull_request(story: Story) -> tuple[int, Callable[[str], None]]:
    pull = open_pull(story, PLAIN)
    return pull, lambda text: story.github.edit_issue(REPO, pull, "alice", body=text)


def edit_a_review(story: Story) -> tuple[int, Callable[[str], None]]:
    pull, world = open_pull(story), story.github.world
    review = reviews.submit_review(world, REPO, pull, author="alice", body=PLAIN)
    return pull, lambda text: reviews.edit_review(
        world, review, actor="alice", body=text
    )


def edit_at_a_line(story: Story) -> tuple[int, Callable[[str], None]]:
    pull, world = open_pull(story), story.github.world
    thread = reviews.comment_on(
        world, REPO, pull, author="alice", spot=Spot(path="x.py", line=1), body=PLAIN
    )
    return pull, lambda text: reviews.edit_comment(
        world, thread, 0, actor="alice", body=text
    )


EDITS = [
    edit_the_issue,
    edit_a_comment,
    edit_the_pull_request,
    edit_a_review,
    edit_at_a_line,
]


@pytest.mark.parametrize("write", EDITS, ids=lambda one: one.__name__)
def test_a_mention_that_is_edited_in_asks_once(
    tmp_path: Path, write: Callable[[Story], tuple[int, Callable[[str], None]]]
) -> None:
    with telling(tmp_path, in_turn(ANSWER)) as story:
        number, edit = write(story)
        for delivery in story.github.deliveries:
            story.deliver(delivery)
        assert story.jobs() == []
        edit(WISH)
        story.tell()
        story.work()
        assert "The pieces are not counted." in story.reply(number)
        edit(f"{WISH} And now?")
        story.tell()
        story.work()
        assert len(story.jobs()) == 1
        assert len(story.provider.requests) == 1


def test_a_label_on_a_pull_request_moves_its_branch_and_shows_how_it_went(
    tmp_path: Path,
) -> None:
    def look(_request: Request) -> TurnLike:
        labels.append(story.github.issue(REPO, pull).labels)
        return NOTE[0]

    labels: list[tuple[str, ...]] = []
    with telling(tmp_path, in_turn(look, NOTE[1])) as story:
        pull = by_a_label_on_a_pull_request(story)
        story.tell()
        [before] = story.github.pull_requests(REPO)
        story.work()
        [after] = story.github.pull_requests(REPO)
        assert after.head_sha != before.head_sha
        assert story.branches() == ["work"]
        assert labels == [("patchwright:running",)]
        assert story.github.issue(REPO, pull).labels == ("patchwright:done",)
        assert "**Change made, not proven**" in story.reply(pull)


def test_a_label_that_is_put_on_again_asks_again(tmp_path: Path) -> None:
    with telling(tmp_path, in_turn(ANSWER, ANSWER)) as story:
        # GitHub tells times in whole seconds, and they tell one wish from the other.
        story.github.world.clock = story.clock
        issue = by_a_label(story)
        story.tell()
        story.work()
        story.clock.advance(2)
        story.github.label(REPO, issue, "patchwright", "alice")
        story.tell()
        story.work()
        assert len(story.replies(issue)) == 2
        assert story.github.issue(REPO, issue).labels == ("patchwright:done",)


def test_who_assigns_the_bot_asks_it(tmp_path: Path) -> None:
    with telling(tmp_path, in_turn(ANSWER), as_app=False) as story:
        issue = story.github.open_issue(REPO, "eve", "Wrong sum", PLAIN)
        assign(story.github.world, REPO, issue, "alice", actor="alice")
        story.tell()
        assert story.jobs() == []
        assign(story.github.world, REPO, issue, story.bot, actor="alice")
        story.tell()
        story.work()
        [job] = story.jobs()
        assert job.trigger.kind is TriggerKind.ASSIGNMENT
        assert PLAIN in asked(story.provider.requests[0])
        assert "The pieces are not counted." in story.reply(issue)
