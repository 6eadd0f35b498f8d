"""A plan comes first where somebody wants one; nothing is changed before a yes."""

from pathlib import Path

import pytest

from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn, results
from tests.flow.story import Story, fix_turns, telling

WISH = "@patchwright plan a fix of the sum"
PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
SCRATCH = call("write", path="scratch.py", content="1\n")
CAREFUL = {".patchwright.toml": 'plan_approval = "comment"\n'}


def answer(story: Story, issue: int, words: str, *, author: str = "alice") -> None:
    story.say(issue, f"@patchwright {words}", author=author)
    story.work()


def waits(story: Story) -> bool:
    return story.jobs()[0].state is JobState.WAITING_USER


def test_t9_an_approved_plan_is_carried_out_from_a_clean_tree(tmp_path: Path) -> None:
    def approved(request: Request) -> TurnLike:
        assert "The plan was approved by @alice." in results(request)[-1]
        return call("shell", command="ls scratch.py; git status --short")

    def clean(request: Request) -> TurnLike:
        assert "No such file" in results(request)[-1]
        return first

    first, *rest = fix_turns()
    turns = in_turn(SCRATCH, PLAN, approved, clean, *rest)
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        story.work()
        said = story.reply(issue)
        assert "> 1. Test it.\n> 2. Fix it." in said
        assert "Reply `approve` to start" in said
        assert "state=waiting" in said
        assert waits(story)
        assert (story.branches(), story.github.pull_requests("acme/shop")) == ([], [])
        answer(story, issue, "approve", author="eve")
        assert waits(story)
        answer(story, issue, "approve")
        assert "**Done, proven** · #2" in story.reply(issue)
        [pull] = story.github.pull_requests("acme/shop")
        assert not pull.draft
        assert len(story.jobs()) == 1


def test_t9_words_get_another_plan(tmp_path: Path) -> None:
    def revise(request: Request) -> TurnLike:
        assert "mind the empty cart" in asked(request)
        return call("finish", summary="A plan.", answer="1. Mind the empty cart.")

    with telling(tmp_path, in_turn(PLAN, revise)) as story:
        issue = story.ask(WISH)
        story.work()
        answer(story, issue, "mind the empty cart")
        assert "1. Mind the empty cart." in story.reply(issue)
        assert waits(story)


@pytest.mark.parametrize("word", ["reject", "stop"])
def test_t9_a_no_ends_it_and_keeps_nothing(word: str, tmp_path: Path) -> None:
    with telling(tmp_path, in_turn(SCRATCH, PLAN)) as story:
        issue = story.ask(WISH)
        story.work()
        answer(story, issue, word)
        assert story.reply(issue).startswith("**Stopped**")
        assert story.branches() == []
        assert story.jobs()[0].state is JobState.CANCELLED


def test_a_careful_repository_gets_a_plan_for_every_request(tmp_path: Path) -> None:
    turns = in_turn(PLAN, *fix_turns())
    with telling(tmp_path, turns, files=CAREFUL) as story:
        issue = story.ask("@patchwright please fix the sum")
        story.work()
        assert "1. Test it." in story.reply(issue)
        assert waits(story)
        answer(story, issue, "approve")
        assert "**Done, proven** · #2" in story.reply(issue)
