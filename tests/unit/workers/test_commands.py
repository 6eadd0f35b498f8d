"""Commands that need no run, and money for one that works."""

import pytest

from patchwright.core.text.commands import NO_AMOUNT, Command, Verb, parse_command
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.messages.answers import Ended, Standing
from patchwright.workers.run.budget import more_money
from patchwright.workers.run.commands import answer_command
from tests.unit.resolver.runs import FRAME, HANDLE, RUNNING, TRIGGER

LAST = Ended(
    frame=FRAME,
    trigger=TRIGGER,
    outcome=Outcome(kind=OutcomeKind.STOPPED, reason="asked", iterations=2),
)


def answer(
    request: str,
    last: Ended | None = None,
    kind: TriggerKind = TriggerKind.COMMENT_MENTION,
) -> str | None:
    asked = TRIGGER.model_copy(update={"request": request, "kind": kind})
    outcome = answer_command(asked, HANDLE, last)
    return None if outcome is None else outcome.summary


@pytest.mark.parametrize("request_text", ["fix it", "retry", "plan", "plan the move"])
def test_t9_what_needs_a_run_is_not_answered(request_text: str) -> None:
    assert answer(request_text) is None


@pytest.mark.parametrize(
    "verb", ["stop", "pause", "resume", "approve", "reject", "status", "cost", "why"]
)
def test_t9_where_nothing_has_run_there_is_nothing_to_tell(verb: str) -> None:
    assert answer(verb) == "Nothing is running in this thread."


@pytest.mark.parametrize("verb", ["status", "cost", "why"])
def test_t9_questions_are_answered_about_the_last_run(verb: str) -> None:
    assert "**Stopped** · 2 steps" in str(answer(verb, LAST))


def test_t9_stop_does_not_tell_of_the_past() -> None:
    assert answer("stop", LAST) == "Nothing is running in this thread."


def test_t9_help_lists_every_command() -> None:
    text = str(answer("help"))
    assert [verb for verb in Verb if verb not in text] == []


def test_t9_a_bad_budget_is_explained() -> None:
    assert answer("budget") == f"Nothing is running in this thread. {NO_AMOUNT}"


@pytest.mark.parametrize(
    "kind", [TriggerKind.REVIEW, TriggerKind.CHECKS, TriggerKind.CONFLICT]
)
def test_what_was_not_said_to_us_is_no_command(kind: TriggerKind) -> None:
    assert answer("stop", kind=kind) is None


@pytest.mark.parametrize(
    ("said", "more"), [("budget +2", 2.0), ("budget 7.50", 2.5), ("budget +0.5", 0.5)]
)
def test_t9_a_budget_is_added_to_or_set(said: str, more: float) -> None:
    # It may cost three dollars, and two that were allowed since.
    assert more_money(_command(said), RUNNING) == more


@pytest.mark.parametrize("said", ["budget 5", "budget 1"])
def test_t9_a_budget_is_never_lowered(said: str) -> None:
    assert more_money(_command(said), RUNNING) == (
        "The run may cost $5.00 already. `budget +2` allows two dollars more."
    )


def test_t9_a_budget_waits_for_the_run_to_begin() -> None:
    before = Standing(frame=FRAME, trigger=TRIGGER)
    assert more_money(_command("budget +2"), before) == (
        "The run has not begun yet. Say it again when it works."
    )
    assert more_money(_command("budget"), before) == NO_AMOUNT


def _command(text: str) -> Command:
    command = parse_command(text)
    assert command is not None
    return command
