"""What people are told who ask about a run, word for word."""

from typing import get_args

import pytest

from patchwright.core.commands import Question, Verb
from patchwright.core.events.payload import AgentState, Todo
from patchwright.core.events.state import WaitingState
from patchwright.core.text.mentions import find_request
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.answers import (
    OpenRun,
    PastRun,
    answer_ended,
    answer_running,
)
from patchwright.resolver.messages.status import DeliveryResult
from tests.unit.resolver.runs import FRAME, HANDLE, RUNNING, TRIGGER, USAGE

PLAN = Outcome(
    kind=OutcomeKind.PLAN_POSTED, reason="plan", waits=True, summary="1. Fix it."
)


def test_t9_status_says_how_far_it_is() -> None:
    assert answer_running(Verb.STATUS, RUNNING) == (
        "**Working on it** · step 4 of 50 · 2m 10s · $0.41 of $5.00\n\n"
        "- [x] Checked out\n"
        "- [ ] Step 4: `make`"
    )


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (AgentState.PAUSED, "**Paused** · step 4"),
        (AgentState.AWAITING_USER_INPUT, "**Waiting for an answer** · step 4"),
        (AgentState.AWAITING_USER_CONFIRMATION, "**Waiting for an approval** · step"),
    ],
)
def test_t9_status_says_what_it_waits_for(held: WaitingState, words: str) -> None:
    waiting = RUNNING.replace(held=held)
    assert answer_running(Verb.STATUS, waiting).startswith(words)


def test_t9_status_of_a_run_that_has_not_begun() -> None:
    run = OpenRun(frame=FRAME, trigger=TRIGGER)
    assert answer_running(Verb.STATUS, run) == (
        "**Not started yet**: reading the thread and the repository."
    )
    waiting = run.replace(held=AgentState.AWAITING_USER_INPUT)
    assert answer_running(Verb.STATUS, waiting) == (
        "**Waiting for an answer**: the work has not started yet."
    )


def test_t9_cost_says_what_was_spent_of_what() -> None:
    assert answer_running(Verb.COST, RUNNING) == (
        "$0.41 of $5.00 so far, for 4 steps: 12,345 tokens in (9,000 of them cached) "
        "and 678 out. `@patchwright budget +2` adds $2.00."
    )


def test_t9_why_says_who_asked_and_which_rule_let_them_in() -> None:
    assert answer_running(Verb.WHY, RUNNING) == (
        "- Requested by alice, with a mention in a comment.\n- Allowed, because alice "
        "has write access.\n\n- Thread read at 14:02:11 UTC.\n- Work "
        "starts from `abcdef0123` of `main`."
    )


def test_t9_plan_shows_the_plan_that_was_posted() -> None:
    waiting = RUNNING.replace(posted=PLAN)
    assert answer_running(Verb.PLAN, waiting) == ("The agent wrote:\n\n> 1. Fix it.")


def test_t9_plan_shows_the_agents_own_steps() -> None:
    todos = (Todo(text="Test it", state="done"), Todo(text="Fix it", state="doing"))
    progress = RUNNING.progress.replace(todos=todos)
    planned = RUNNING.replace(progress=progress)
    assert "- [x] Test it" in answer_running(Verb.PLAN, planned)
    assert answer_running(Verb.PLAN, RUNNING) == ("There is no plan yet.")


@pytest.mark.parametrize("verb", sorted(get_args(Question)))
def test_s08_no_answer_mentions_the_bot(verb: Question) -> None:
    said = PLAN.replace(summary=f"{HANDLE} do it again")
    for run in (RUNNING, RUNNING.replace(posted=said)):
        assert find_request(answer_running(verb, run), HANDLE) is None
    ended = PastRun(frame=FRAME, trigger=TRIGGER, outcome=said)
    assert find_request(answer_ended(verb, ended), HANDLE) is None


def test_t9_why_tells_of_the_end_of_the_last_run_and_what_to_do() -> None:
    outcome = Outcome(
        kind=OutcomeKind.OVER_BUDGET,
        reason="budget",
        summary="The next call could cost $0.20.",
        service_text="The next call could cost $0.20.",
        usage=USAGE,
        iterations=9,
        seconds=61,
    )
    ended = PastRun(frame=FRAME, trigger=TRIGGER, outcome=outcome)
    text = answer_ended(Verb.WHY, ended)
    assert text.startswith(
        "Nothing is running here. This is how the last run ended:\n\n"
        "**Over budget** · 9 steps · 1m 1s · $0.41\n\n"
        "- Requested by alice, with a mention in a comment.\n\n"
        "It ended as `over-budget` (`budget`).\n\n"
        "The next call could cost $0.20.\n\n"
    )
    assert "Narrow the request and ask again with `@patchwright`" in text
    assert "It ended as" not in answer_ended(Verb.STATUS, ended)


def test_t9_cost_tells_what_the_last_run_took() -> None:
    outcome = Outcome(kind=OutcomeKind.RESOLVED, usage=USAGE, iterations=9, seconds=61)
    shown = PastRun(
        frame=FRAME,
        trigger=TRIGGER,
        outcome=outcome,
        delivered=DeliveryResult(pull_request=2),
    )
    assert answer_ended(Verb.COST, shown) == (
        "Nothing is running here. The last run used 12,345 tokens in (9,000 of them "
        "cached) and 678 out.\n\n**Change made, no evidence** · #2 · 9 steps · 1m "
        "1s · $0.41"
    )


def test_t9_the_pull_request_is_a_link_where_its_number_would_be_none() -> None:
    delivered = DeliveryResult(pull_request=2, pull_request_url="https://hub/pull/2")
    outcome = Outcome(kind=OutcomeKind.RESOLVED)
    ended = PastRun(frame=FRAME, trigger=TRIGGER, outcome=outcome, delivered=delivered)
    text = answer_ended(Verb.STATUS, ended, is_beside_code=False)
    assert (
        "**Change made, no evidence** · [pull request #2](https://hub/pull/2) · "
        in text
    )


@pytest.mark.parametrize("kind", TriggerKind)
def test_t9_why_knows_how_each_run_was_asked_for(kind: TriggerKind) -> None:
    """A reply or a merge can start a run as well."""
    text = answer_running(Verb.WHY, RUNNING.replace(trigger=TRIGGER.replace(kind=kind)))
    assert text.startswith("- Requested by alice, ")
