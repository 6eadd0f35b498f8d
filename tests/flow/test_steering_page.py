"""A run that waits is answered on its page, and steered there by who may."""

import re
from html import unescape
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn, results
from tests.flow.story import REPO, Story, fix_turns
from tests.flow.visitor import ADMIN_TOKEN, Visitor, visiting

PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
QUESTION = "Which?\n\n1. Cents\n2. Euros"
ASK = [QUESTION] * 3
RISKY = call("shell", command="rm -rf ~/.ssh; touch was_run")
RISKS = {"PATCHWRIGHT_AGENT__CONFIRM": "risky"}


def state(story: Story) -> JobState:
    return story.jobs()[0].state


def words(page: str) -> str:
    """Return what is at the top of a page, as one line."""
    part = page.partition('<div id="actions"')[2].partition(">")[2]
    part = part.partition('<nav class="row jump')[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", part)).split())


def test_a_plan_that_was_asked_for_on_the_page_is_approved_there(
    tmp_path: Path,
) -> None:
    with visiting(tmp_path, in_turn(PLAN, *fix_turns())) as (story, alice, _):
        alice.sign_in("alice")
        path = alice.ask(plan="yes")
        story.work()
        shown = alice.look(path)
        assert "This plan waits for approval" in words(shown)
        assert "<li>Test it.</li>" in shown
        alice.press(path, "approve")
        assert "<strong>Done, proven</strong>" in alice.look(path)
        assert len(story.github.pull_requests(REPO)) == 1
        assert len(story.jobs()) == 1


def test_another_plan_is_asked_for_there(tmp_path: Path) -> None:
    def revise(request: Request) -> TurnLike:
        assert "mind the empty cart" in asked(request)
        return call("finish", summary="A plan.", answer="1. Mind the empty cart.")

    with visiting(tmp_path, in_turn(PLAN, revise)) as (story, alice, _):
        alice.sign_in("alice")
        path = alice.ask(plan="yes")
        story.work()
        alice.press(path, "message", "mind the empty cart")
        assert "Mind the empty cart." in words(alice.look(path))
        alice.press(path, "reject", "not worth it")
        assert story.outcome().reason == "plan-rejected"
        assert "@alice rejected the plan" in story.outcome().summary


@pytest.mark.parametrize(
    ("act", "typed", "said"),
    [("message2", None, "2"), ("message", "in roubles\r\nplease", "in roubles")],
)
def test_a_question_is_answered_by_a_choice_or_in_words(
    act: str, typed: str | None, said: str, tmp_path: Path
) -> None:
    def go_on(request: Request) -> TurnLike:
        assert said in asked(request)
        return first

    first, *rest = fix_turns()
    with visiting(tmp_path, in_turn(*ASK, go_on, *rest)) as (story, alice, _):
        alice.sign_in("alice")
        path = alice.ask()
        story.work()
        assert "This run has a question" in words(alice.look(path))
        assert {"message1", "message2"} < set(alice.forms(path))
        alice.press(path, act, typed)
        assert story.outcome().kind is OutcomeKind.RESOLVED


@pytest.mark.parametrize(
    ("act", "came_of_it"),
    [("confirm", "exit code 0"), ("reject", "Not run: @alice did not allow it.")],
)
def test_a_risky_action_is_shown_whole_and_confirmed_there(
    act: str, came_of_it: str, tmp_path: Path
) -> None:
    def look(request: Request) -> TurnLike:
        assert came_of_it in results(request)[-1]
        return call("finish", summary="Looked.")

    turns = in_turn(RISKY, look)
    with visiting(tmp_path, turns, RISKS) as (story, alice, _):
        alice.sign_in("alice")
        path = alice.ask()
        story.work()
        shown = alice.look(path)
        assert "This action waits for a yes" in words(shown)
        assert (
            '<pre class="whole"><bdi>rm -rf ~/.ssh; touch was_run</bdi></pre>' in shown
        )
        alice.press(path, act)
        assert state(story) is JobState.DONE


def test_a_second_browser_stops_a_run_that_the_first_looks_at(tmp_path: Path) -> None:
    def stop(_request: Request) -> TurnLike:
        assert "Stop the run" in first.look(path)
        sent = second.send(path, "stop")
        assert sent.headers["location"] == f"{path}?sent=stop"
        return call("write", path="half.py", content="1\n")

    with visiting(tmp_path, in_turn(stop, *fix_turns())) as (story, first, second):
        first.sign_in("alice")
        second.sign_in("alice")
        path = first.ask()
        story.work()
        assert story.outcome().kind is OutcomeKind.STOPPED
        assert "Stopped by @alice" in first.look(path)


def test_a_run_is_paused_and_resumed_there(tmp_path: Path) -> None:
    def pause(_request: Request) -> TurnLike:
        alice.send(path, "pause")
        return second

    first, second, *rest = fix_turns()
    with visiting(tmp_path, in_turn(first, pause, *rest)) as (story, alice, _):
        alice.sign_in("alice")
        path = alice.ask()
        story.work()
        assert "This run is paused Paused by @alice." in words(alice.look(path))
        alice.press(path, "resume")
        assert story.outcome().kind is OutcomeKind.RESOLVED


def test_a_run_that_has_ended_is_followed_by_another_of_the_same_request(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "is 450, and not 1350" in str(request)
        assert "and mind the empty cart" in str(request)
        return first

    first, *rest = fix_turns()
    nothing = call("finish", summary="Nothing is wrong.")
    with visiting(tmp_path, in_turn(nothing, look, *rest)) as (story, alice, _):
        alice.sign_in("alice")
        path = alice.ask()
        story.work()
        sent = alice.send(path, "message", "and mind the empty cart")
        story.work()
        old, new = story.jobs()
        assert sent.headers["location"] == f"/runs/{new.id}"
        assert new.conversation_id == old.conversation_id
        assert "<strong>Done, proven</strong>" in alice.look(f"/runs/{new.id}")


def test_a_command_from_the_page_leaves_no_reaction_on_the_issue(
    tmp_path: Path,
) -> None:
    with visiting(tmp_path, in_turn(PLAN, *fix_turns())) as (story, alice, _):
        issue = story.ask("@patchwright plan a fix of the sum")
        story.work()
        before = story.reactions(issue)
        alice.sign_in("alice")
        alice.press(f"/runs/{story.jobs()[0].id}", "approve")
        assert story.reactions(issue) == before
        assert "**Done, proven** · #2" in story.reply(issue)
        story.pings(issue)


class Administrator(Visitor):
    """Has the administrator's token, and no account on the forge."""

    def __init__(self, visitor: Visitor) -> None:
        super().__init__(visitor.story, visitor.browser)
        self.browser.headers["Authorization"] = f"Bearer {ADMIN_TOKEN}"


def test_an_administrator_steers_every_run_and_nobody_is_mentioned_for_it(
    tmp_path: Path,
) -> None:
    def pause(_request: Request) -> TurnLike:
        admin.send(path(), "budget", "+1000")
        admin.send(path(), "pause")
        return ASK[0]

    def path() -> str:
        return f"/runs/{story.jobs()[0].id}"

    first, *rest = fix_turns()
    turns = in_turn(PLAN, pause, *ASK[:2], first, *rest)
    with visiting(tmp_path, turns) as (story, visitor, _):
        admin = Administrator(visitor)
        issue = story.ask("@patchwright plan a fix of the sum")
        story.work()
        admin.press(path(), "approve")
        shown, told = story.replies(issue)
        assert shown.startswith("**Paused** · 2 steps")
        assert "Paused by an administrator." in shown
        assert told.startswith("The budget is $1003.00 now.")
        admin.press(path(), "resume")
        assert "1. Cents" in story.replies(issue)[0]
        admin.press(path(), "message", "in cents, always")
        assert "**Done, proven** · #2" in story.replies(issue)[0]
        said = [one.payload for one in story.events()]
        reasons = {str(getattr(one, "reason", "")) for one in said}
        assert "an administrator" in reasons
        assert not any("@an" in one for one in reasons)
        assert all(one.startswith("@alice ") for one in story.pings(issue))
        page = admin.look(path())
        assert "You can retry this run as an administrator." in words(page)
        assert list(admin.forms(path())) == ["retry"]
