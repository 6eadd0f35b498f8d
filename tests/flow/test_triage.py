"""A request that says too little or asks too much is answered before money is spent."""

import time
from pathlib import Path

import pytest

from patchwright.core.types.work import NO_USAGE
from tests.fakes.llm.turns import TurnLike
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.flow.text import steady
from tests.provision.waiting import wait_until

QUESTION = """\
**Needs you**

I could not find out what to change: the title, `Bug`, and the text do not say what is \
wrong or what is wanted. Please add

- what you did, and what happened: the message, the output, a stack trace;
- what you expected instead;
- where it is, if you know: a file, a command, a page.

For example: “`shop total 450 x3` prints 450, but should print 1350. I think it is in \
`cart.py`.”

Reply here with your answer. The run waits for it and costs nothing."""


def _was_free(story: Story) -> bool:
    spent = {job.outcome.usage for job in story.jobs() if job.outcome}
    return spent == {NO_USAGE} and story.provider.raw_requests == []


def test_a_vague_request_gets_a_question_and_costs_nothing(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        issue = story.ask("@patchwright please fix it", title="Bug")
        story.work()
        assert steady(story.reply(issue)).startswith(QUESTION)
        assert "<!-- patchwright:state=waiting run=" in story.reply(issue)
        assert story.outcome().reason == "too-vague"
        assert _was_free(story)


@pytest.mark.parametrize("mention", ["", "@patchwright "])
def test_the_answer_to_the_question_starts_the_work(
    mention: str, tmp_path: Path
) -> None:
    def look(request: Request) -> TurnLike:
        assert "3 pieces cost 450" in asked(request)
        assert "me too" not in asked(request)
        return first

    first, *rest = fix_turns()
    with telling(tmp_path, in_turn(look, *rest)) as story:
        issue = story.ask("@patchwright please fix it", title="Bug")
        story.work()
        # GitHub dates to the second, and what is as old as the request belongs to it.
        asked_at = int(time.time())
        wait_until(lambda: int(time.time()) > asked_at, "the next second", 5)
        story.say(issue, "me too", author="eve")
        story.say(issue, "@patchwright status")
        story.work()
        question, told = story.replies(issue)
        assert steady(question).startswith(QUESTION)
        assert told.startswith(
            "**Waiting for an answer**: the work has not started yet.\n"
        )
        assert _was_free(story)
        story.say(issue, f"{mention}3 pieces cost 450")
        story.work()
        assert "**Done, proven** · #2" in story.replies(issue)[0]
        assert len(story.jobs()) == 1
        story.pings(issue)


def test_a_thread_is_asked_once_and_then_the_work_begins(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright please fix it", title="Bug")
        story.work()
        story.say(issue, "just fix it")
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        story.pings(issue)


def test_a_question_before_the_work_can_be_ended(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        issue = story.ask("@patchwright please fix it", title="Bug")
        story.work()
        story.say(issue, "stop")
        story.work()
        assert story.reply(issue).startswith("**Stopped**")
        assert _was_free(story)
        story.pings(issue)


def test_a_stranger_who_copies_our_mark_suppresses_no_question(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        issue = story.github.open_issue(REPO, "alice", "Bug", "")
        copied = "No.\n\n<!-- patchwright:state=needs-input run=7f3a -->"
        story.github.comment(REPO, issue, "eve", copied)
        story.say(issue, "@patchwright please fix it")
        story.work()
        assert steady(story.reply(issue)).startswith(QUESTION)
        assert _was_free(story)


def test_a_request_for_everything_is_asked_for_a_part(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        issue = story.ask("@patchwright", title="Rewrite the entire app in Rust")
        story.work()
        assert "Which part should I begin with?" in story.reply(issue)
        assert story.outcome().reason == "too-large"
        assert _was_free(story)


def test_triage_can_be_turned_off(tmp_path: Path) -> None:
    off = {"PATCHWRIGHT_AGENT__TRIAGE": "false"}
    with telling(tmp_path, fix_turns(), settings=off) as story:
        issue = story.ask("@patchwright please fix it", title="Bug")
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
