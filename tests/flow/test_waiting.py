"""A run that waits for a person: it holds nothing, costs nothing, and goes on."""

from pathlib import Path

import pytest

from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn, results
from tests.flow.story import REPO, Story, fix_turns, telling

WISH = "@patchwright please fix the sum"
QUESTION = "Should `total` count in cents, or in euros?"
ASK = [QUESTION] * 3
ASKING = {"PATCHWRIGHT_AGENT__CONFIRM": "risky"}
RISKY = call("shell", command="rm -rf ~/.ssh; touch was_run")


def waits(story: Story) -> bool:
    return story.jobs()[0].state is JobState.WAITING_USER


def answer(story: Story, issue: int, words: str, *, author: str = "alice") -> None:
    story.say(issue, f"@patchwright {words}", author=author)
    story.work()


def test_a_question_is_posted_and_its_answer_goes_on_with_the_work(
    tmp_path: Path,
) -> None:
    def go_on(request: Request) -> TurnLike:
        assert "in cents, always" in asked(request)
        assert "The sandbox of this run was lost" in asked(request)
        return call("shell", command="cat notes")

    def read(request: Request) -> TurnLike:
        assert "what I found" in results(request)[-1]
        return first

    first, *rest = fix_turns()
    noted = call("write", path="notes", content="what I found\n")
    tidy = call("shell", command="rm notes")
    turns = in_turn(noted, *ASK, go_on, read, tidy, *rest)
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        story.work()
        said = story.reply(issue)
        assert said.startswith("**Needs you** · 4 steps")
        assert QUESTION in said
        assert "state=waiting" in said
        assert waits(story)
        assert story.branches() == []
        answer(story, issue, "in cents, always")
        assert "**Done, proven** · #2" in story.reply(issue)
        assert len(story.jobs()) == 1
        [pull] = story.github.pull_requests(REPO)
        assert not pull.draft


def test_s09_a_strangers_answer_does_not_count(tmp_path: Path) -> None:
    with telling(tmp_path, list(ASK)) as story:
        issue = story.ask(WISH)
        story.work()
        before = len(story.provider.requests)
        answer(story, issue, "in roubles", author="eve")
        assert waits(story)
        assert len(story.provider.requests) == before
        assert QUESTION in story.reply(issue)


def test_stop_ends_what_waits_and_keeps_its_work(tmp_path: Path) -> None:
    write = call("write", path="half.py", content="1\n")
    with telling(tmp_path, in_turn(write, *ASK)) as story:
        issue = story.ask(WISH)
        story.work()
        answer(story, issue, "stop")
        assert story.reply(issue).startswith("**Stopped**")
        assert "The work so far is on [`patchwright/1-wrong-sum`]" in story.reply(issue)
        assert story.jobs()[0].state is JobState.CANCELLED


def test_what_is_said_just_before_it_waits_is_not_missed(tmp_path: Path) -> None:
    def ask(_request: Request) -> TurnLike:
        story.say(1, "@patchwright in cents, always")
        return QUESTION

    first, *rest = fix_turns()
    with telling(tmp_path, in_turn(QUESTION, QUESTION, ask, first, *rest)) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)


def test_a_paused_run_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    def pause(_request: Request) -> TurnLike:
        story.say(1, "@patchwright pause")
        return second

    first, second, *rest = fix_turns()
    turns = in_turn(first, pause, *rest)
    with telling(tmp_path, turns) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.reply(issue).startswith("**Paused** by @alice · 2 steps")
        assert (
            "Reply `resume` to continue the run, or `stop` to end it."
            in story.reply(issue)
        )
        answer(story, issue, "please hurry", author="eve")
        assert waits(story)
        answer(story, issue, "resume")
        assert "**Done, proven** · #2" in story.reply(issue)


@pytest.mark.parametrize(
    ("said", "came_of_it"),
    [
        ("approve", "exit code 0"),
        ("reject", "Not run: @alice did not allow it."),
        ("NO, never do that", "Not run: a person answered with a comment instead."),
    ],
)
def test_what_is_risky_waits_for_a_yes(
    said: str, came_of_it: str, tmp_path: Path
) -> None:
    def look(request: Request) -> TurnLike:
        assert came_of_it in results(request)[-1]
        return call("finish", summary="Looked.")

    with telling(tmp_path, in_turn(RISKY, look), settings=ASKING) as story:
        issue = story.ask(WISH)
        story.work()
        shown = story.reply(issue)
        assert "May this be done (`shell`, risk: high)?" in shown
        assert "```\nrm -rf ~/.ssh; touch was_run\n```" in shown
        assert "Reply `approve` or `reject`." in shown
        assert waits(story)
        answer(story, issue, said)
        was_run = said == "approve"
        done = story.reply(issue)
        end = "**Draft, not proven** · #2" if was_run else "**No change**"
        assert end in done


def test_a_stranger_cannot_approve(tmp_path: Path) -> None:
    with telling(tmp_path, in_turn(RISKY), settings=ASKING) as story:
        issue = story.ask(WISH)
        story.work()
        answer(story, issue, "approve", author="eve")
        assert waits(story)
        assert "May this be done" in story.reply(issue)
        assert not any(e.payload.kind == "run_command" for e in story.events())


def test_m14_who_may_write_does_not_lift_the_limit_without_bound(
    tmp_path: Path,
) -> None:
    def raise_it(_request: Request) -> TurnLike:
        story.say(1, "@patchwright budget +1000")
        return looking

    looking, *rest = fix_turns()
    limit = {"PATCHWRIGHT_LIMITS__MAX_COST_USD": "1.10"}
    with telling(tmp_path, in_turn(raise_it, *rest), settings=limit) as story:
        issue = story.ask(WISH)
        story.work()
        assert not any(e.payload.kind == "raise_limits" for e in story.events())
        assert any("is too much." in one for one in story.replies(issue))


def test_more_money_is_allowed_while_it_runs(tmp_path: Path) -> None:
    def allow(_request: Request) -> TurnLike:
        story.say(1, "@patchwright budget +2")
        return first

    first, *rest = fix_turns()
    prices = {
        "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0",
        "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.01",
        "PATCHWRIGHT_LLM__MAX_OUTPUT_TOKENS": "100",
        "PATCHWRIGHT_LIMITS__MAX_COST_USD": "1.10",
        "PATCHWRIGHT_LIMITS__MAX_RAISE_USD": "2",
    }
    with telling(tmp_path, in_turn(allow, *rest), settings=prices) as story:
        issue = story.ask(WISH)
        story.work()
        done, told = story.replies(issue)
        assert "**Done, proven** · #2" in done
        assert told.startswith("The budget is $3.10 now. Spent so far: $0.00.")
