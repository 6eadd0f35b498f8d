"""A discussion is answered where it is; what comes of it is linked from there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.github.acts.discussions import (
    discuss,
    edit_discussed,
    edit_discussion,
    open_discussion,
)
from tests.fakes.github.discussion_state import Discussion
from tests.fakes.llm.turns import call
from tests.flow.script import asked, in_turn
from tests.flow.story import PING, REPO, Story, fix_turns, telling

PLAIN = "Three pieces cost as much as one."
WISH = f"@patchwright why is that? {PLAIN}"
ANSWER = call("finish", summary="Looked.", answer="The pieces are not counted.")


def open_with(story: Story, body: str, author: str = "alice") -> Discussion:
    return open_discussion(
        story.github.world, REPO, author=author, title="Wrong sum", body=body
    )


def in_the_body(story: Story) -> Discussion:
    return open_with(story, WISH)


def in_a_comment(story: Story) -> Discussion:
    discussion = open_with(story, PLAIN, author="eve")
    discuss(story.github.world, discussion.id, author="alice", body=WISH)
    return discussion


def in_an_answer(story: Story) -> Discussion:
    discussion, world = open_with(story, PLAIN, author="eve"), story.github.world
    first = discuss(world, discussion.id, author="eve", body="Why?")
    discuss(world, discussion.id, author="alice", body=WISH, parent_id=first.id)
    return discussion


def edited_into_the_body(story: Story) -> Discussion:
    discussion = open_with(story, PLAIN)
    world = story.github.world
    return edit_discussion(world, discussion.id, actor="alice", body=WISH)


def edited_into_a_comment(story: Story) -> Discussion:
    discussion, world = open_with(story, PLAIN, author="eve"), story.github.world
    comment = discuss(world, discussion.id, author="alice", body="Hm.")
    edit_discussed(world, comment.id, actor="alice", body=WISH)
    edit_discussed(world, comment.id, actor="alice", body=f"{WISH} Please.")
    return discussion


WAYS = [
    in_the_body,
    in_a_comment,
    in_an_answer,
    edited_into_the_body,
    edited_into_a_comment,
]


def said(story: Story, discussion: Discussion) -> list[str]:
    """Return what the bot has said in it, but for calling people."""
    comments = story.github.world.discussed.values()
    return [
        one.body
        for one in comments
        if one.discussion_id == discussion.id
        and one.author == story.bot
        and PING not in one.body
    ]


def tell_all(story: Story) -> None:
    for delivery in story.github.deliveries:
        assert story.deliver(delivery).status in {200, 202}


@pytest.mark.parametrize("ask", WAYS, ids=lambda one: one.__name__)
def test_a_question_in_a_discussion_is_answered_there_and_once(
    tmp_path: Path, ask: Callable[[Story], Discussion]
) -> None:
    with telling(tmp_path, in_turn(ANSWER)) as story:
        discussion = ask(story)
        tell_all(story)
        story.work()
        tell_all(story)
        story.work()
        [only] = said(story, discussion)
        assert "The pieces are not counted." in only
        assert PLAIN in asked(story.provider.requests[0])
        assert len(story.jobs()) == 1
        [reaction] = story.github.world.reactions.values()
        assert (reaction.author, reaction.content) == (story.bot, "eyes")


def test_a_change_from_a_discussion_is_a_pull_request_linked_from_there(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        discussion = open_with(story, "@patchwright please fix the sum")
        story.tell()
        story.work()
        [pull] = story.github.pull_requests(REPO)
        [only] = said(story, discussion)
        assert f"**Done, proven** · #{pull.number}" in only
        assert pull.head_branch == "patchwright/1-wrong-sum"
        assert "Closes" not in pull.body
        assert not pull.draft


def test_s09_a_stranger_in_a_discussion_gets_a_reaction_alone(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        discussion = open_with(story, WISH, author="eve")
        story.tell()
        story.work()
        assert said(story, discussion) == []
        [reaction] = story.github.world.reactions.values()
        assert reaction.content == "-1"
        assert story.provider.requests == []
