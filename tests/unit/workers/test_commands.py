"""Commands that need no run, and money for one that works."""

import pytest
from pydantic import ValidationError

from patchwright.core.commands import NO_AMOUNT, BotCommand, Verb, parse_command
from patchwright.core.events.payload import AgentState
from patchwright.core.events.state import WaitingState
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import Outcome, Usage
from patchwright.resolver.commands import answer_command, makes_run
from patchwright.resolver.configuration import max_raise_usd_of
from patchwright.resolver.messages.answers import (
    OpenRun,
    PastRun,
    answer_running,
    budget_raised,
    needless_command,
)
from patchwright.resolver.messages.status import MessageHeader
from patchwright.resolver.steering import compute_raise
from tests.unit.resolver.runs import FRAME, HANDLE, RUNNING, TRIGGER

LAST = PastRun(
    frame=FRAME,
    trigger=TRIGGER,
    outcome=Outcome(kind=OutcomeKind.STOPPED, reason="asked", iterations=2),
)


def answer(
    request: str,
    last: PastRun | None = None,
    kind: TriggerKind = TriggerKind.COMMENT_MENTION,
) -> str | None:
    asked = TRIGGER.replace(request=request, kind=kind)
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
    assert _more(said) == more


@pytest.mark.parametrize("said", ["budget 5", "budget 1"])
def test_t9_a_budget_is_never_lowered(said: str) -> None:
    assert _more(said) == (
        "The budget is $5.00 already. `@patchwright budget +2` adds $2.00."
    )


@pytest.mark.parametrize(
    ("most_usd", "words"),
    [
        (2.5, "`@patchwright budget +0.5` adds $0.50."),
        (2.0, "Admins of the repository can add more with `@patchwright budget`."),
    ],
)
def test_no_answer_shows_an_amount_that_would_be_refused(
    most_usd: float, words: str
) -> None:
    # Two dollars were added before.
    frame = MessageHeader(**(dict(FRAME) | {"max_raise_usd": most_usd}))
    run = OpenRun(**(dict(RUNNING) | {"frame": frame}))
    assert str(_more("budget 1", run)).endswith(words)
    assert answer_running(Verb.COST, run).endswith(words)


def test_t9_a_budget_waits_for_the_run_to_begin() -> None:
    before = OpenRun(frame=FRAME, trigger=TRIGGER)
    assert _more("budget +2", before) == (
        "The run has not started yet. Try again once it works."
    )
    assert _more("budget", before) == NO_AMOUNT


@pytest.mark.parametrize("said", ["budget +1000", "budget 999999", "budget +1.01"])
def test_m14_who_may_write_lifts_the_limit_only_so_far(said: str) -> None:
    # Two dollars of three were added before.
    told = _more(said, most_usd=3.0)
    assert "$1.00 of that is left" in str(told)
    assert "People with write access add at most" in str(told)
    assert _more("budget +1", most_usd=3.0) == 1.0


def test_m14_an_admin_lifts_it_further() -> None:
    assert _more("budget +1000", most_usd=3.0, is_admin=True) == 1000.0


@pytest.mark.parametrize("amount", ["+inf", "nan", "-5", "+0", "+1e400", ""])
def test_m14_what_is_no_amount_is_refused_whoever_says_it(amount: str) -> None:
    command = BotCommand(verb=Verb.BUDGET, argument=amount or "0")
    said = compute_raise(command, RUNNING, most_usd=10.0**9, is_admin=lambda: True)
    assert said == NO_AMOUNT


def test_m14_people_may_add_as_much_again_unless_it_is_set() -> None:
    assert max_raise_usd_of(LimitSettings(max_cost_usd=4.0)) == 4.0
    assert max_raise_usd_of(LimitSettings(max_cost_usd=4.0, max_raise_usd=0.0)) == 0.0


@pytest.mark.parametrize(
    "key", ["max_cost_usd", "max_raise_usd", "per_day_usd", "unknown_cost_per_token"]
)
@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e999"])
def test_m14_no_limit_of_money_is_set_to_what_is_no_amount(
    key: str, value: str
) -> None:
    with pytest.raises(ValidationError):
        LimitSettings.model_validate({key: value})


@pytest.mark.parametrize("off", [0, "0", "0.0", "none", "", None])
def test_a_ceiling_of_the_day_is_switched_off(off: object) -> None:
    limits = LimitSettings.model_validate({"per_user_day_usd": off})
    assert limits.per_user_day_usd is None
    assert limits.per_repo_day_usd == 100.0


def _more(
    said: str,
    run: OpenRun | None = None,
    *,
    most_usd: float = 100.0,
    is_admin: bool = False,
) -> float | str:
    return compute_raise(
        _command(said), run or RUNNING, most_usd=most_usd, is_admin=lambda: is_admin
    )


def _command(text: str) -> BotCommand:
    command = parse_command(text)
    assert command is not None
    return command


@pytest.mark.parametrize(
    ("held", "verb", "words"),
    [
        (None, Verb.RESUME, "The run is not paused."),
        (None, Verb.APPROVE, "Nothing waits for an approval."),
        (None, Verb.REJECT, "Nothing waits for an approval."),
        (None, Verb.PAUSE, ""),
        (None, Verb.STOP, ""),
        (AgentState.PAUSED, Verb.PAUSE, "The run is paused already."),
        (AgentState.PAUSED, Verb.RESUME, ""),
        (AgentState.AWAITING_USER_CONFIRMATION, Verb.APPROVE, ""),
    ],
)
def test_a_command_that_changes_nothing_is_answered(
    held: WaitingState | None, verb: Verb, words: str
) -> None:
    run = OpenRun(**(dict(RUNNING) | {"held": held}))
    assert needless_command(BotCommand(verb=verb), run) == words
    before = OpenRun(frame=FRAME, trigger=TRIGGER)
    assert needless_command(BotCommand(verb=verb), before) == ""


def test_a_raised_budget_is_told_with_what_is_spent() -> None:
    spent = RUNNING.progress.replace(usage=Usage(cost_usd=0.41))
    run = OpenRun(**(dict(RUNNING) | {"progress": spent}))
    # It may cost three dollars, and two that were allowed since.
    assert budget_raised(run, 2.0) == "The budget is $7.00 now. Spent so far: $0.41."


@pytest.mark.parametrize(
    ("words", "makes"),
    [
        ("fix it", True),
        ("plan the fix", True),
        ("retry", True),
        ("status", False),
        ("budget", False),
        ("stop", False),
        ("hi", False),
        ("", False),
    ],
)
def test_commands_that_only_ask_make_no_run(words: str, *, makes: bool) -> None:
    text = f"@patchwright {words}"
    assert makes_run(TRIGGER.replace(request=words, text=text)) == makes


def test_a_mention_alone_below_a_review_is_about_the_review() -> None:
    bare = TRIGGER.replace(request="", text="@patchwright")
    assert makes_run(bare.replace(review_id="900"))
    assert not makes_run(bare)


def test_a_mention_alone_in_an_issue_is_about_the_issue() -> None:
    opened = TRIGGER.replace(kind=TriggerKind.BODY_MENTION, request="", text="")
    assert makes_run(opened)
