"""A run as one JSON document, in the form that docs/trajectory.md describes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from patchwright.core.events.metrics import measure
from patchwright.core.events.types import (
    Event,
    ModelReply,
    OutcomeReached,
    RunStarted,
)
from patchwright.core.types.work import Limits, Outcome, Usage

FORMAT: Final = "patchwright-trajectory"
VERSION: Final = 1


class RunFacts(BaseModel):
    """What a reader wants to know of a run before it reads the events.

    All of it is taken from them, and they are what counts. Without an outcome the run
    had not ended, or its end was not written down.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    run_id: str = ""
    title: str = ""
    base_sha: str = ""
    base_branch: str = ""
    model: str = ""
    patchwright: str = ""
    limits: Limits | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str | None = None
    reason: str = ""
    proof: str = ""
    iterations: int = 0
    usage: Usage = Usage()


class Trajectory(BaseModel):
    """A whole run. The events are kept as they came, with what nobody here knows."""

    model_config = ConfigDict(frozen=True, extra="allow")

    format: Literal["patchwright-trajectory"] = FORMAT
    version: int = VERSION
    run: RunFacts
    events: tuple[dict[str, JsonValue], ...]


def facts_of(events: Sequence[Event]) -> RunFacts:
    started, outcome, metrics = (
        find_start(events),
        find_outcome(events),
        measure(events),
    )
    task = started.task if started else None
    base = task or outcome
    return RunFacts(
        run_id=started.run_id if started else "",
        title=task.title if task else "",
        base_sha=base.base_sha if base else "",
        base_branch=base.base_branch if base else "",
        model=started.model if started else "",
        patchwright=started.version if started else "",
        limits=started.limits if started else None,
        started_at=events[0].at if events else None,
        ended_at=events[-1].at if events else None,
        outcome=outcome.kind if outcome else None,
        reason=outcome.reason if outcome else "",
        proof=outcome.proof if outcome else "",
        iterations=sum(isinstance(one.payload, ModelReply) for one in events),
        usage=metrics.total.usage,
    )


def find_start(events: Sequence[Event]) -> RunStarted | None:
    payloads = (event.payload for event in events)
    return next((one for one in payloads if isinstance(one, RunStarted)), None)


def find_outcome(events: Sequence[Event]) -> Outcome | None:
    """Return how the run ended, as it was said last."""
    payloads = (event.payload for event in reversed(events))
    reached = (one for one in payloads if isinstance(one, OutcomeReached))
    return next((one.outcome for one in reached), None)
