"""How a run stands, and how long it has worked."""

from datetime import UTC, datetime, timedelta

import pytest

from patchwright.core.events.observations import (
    AttemptStart,
    OutcomeReached,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event, Known
from patchwright.core.types.base import JobId
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome, Usage, WaitReason
from patchwright.workers.runs.run_row import (
    RunRow,
    RunSummary,
    state_of_row,
    update_summary,
)
from patchwright.workers.runs.selection import RunStage

AT = datetime(2030, 1, 1, tzinfo=UTC)
BEGINS = StateChanged(
    state=AgentState.LOADING, attempt=AttemptStart(run_id=JobId("1"), number=1)
)


def at(second: int, payload: Known) -> Event:
    moment = AT + timedelta(seconds=second)
    return Event(id=second, at=moment, source=Source.ENVIRONMENT, payload=payload)


def waits(seconds: float) -> OutcomeReached:
    return OutcomeReached(
        outcome=Outcome(kind=OutcomeKind.NEEDS_INPUT, seconds=seconds)
    )


def test_the_time_of_a_run_is_that_in_which_it_works() -> None:
    known = update_summary(RunSummary(), [at(10, BEGINS)])
    assert known.seconds_worked(AT + timedelta(seconds=15)) == 5
    known = update_summary(known, [at(30, waits(20))])
    assert known.seconds_worked(AT + timedelta(hours=9)) == 20
    known = update_summary(known, [at(40, BEGINS)])
    assert known.seconds_worked(AT + timedelta(seconds=47)) == 27
    known = update_summary(known, [at(50, waits(10))])
    assert known.seconds_worked(AT + timedelta(hours=9)) == 30


@pytest.mark.parametrize(
    ("reason", "shown"),
    [(WaitReason.PAUSED, "Paused"), (WaitReason.QUESTION, "Needs you")],
)
def test_a_run_that_somebody_has_paused_needs_nobody(
    reason: WaitReason, shown: str
) -> None:
    row = RunRow(
        id="1",
        place="service",
        stage=RunStage.WAITING,
        outcome=OutcomeKind.NEEDS_INPUT,
        reason=reason,
        proof=Proof.NONE,
        source="github",
        repo="acme/shop",
        thread="#1",
        title="Wrong sum",
        requester="alice",
        asked_at=AT,
        steps=1,
        usage=Usage(),
        limits=None,
    )
    assert state_of_row(row) == (shown, "open")
