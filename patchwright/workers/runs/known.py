"""What a run's events say of it as a whole, folded so that one can read on."""

from collections.abc import Iterable
from typing import Final

from patchwright.core.events.metrics import ModelCallTotals, read_call
from patchwright.core.events.types import (
    Event,
    EvidenceRecorded,
    ModelReply,
    RaiseLimits,
    RunStarted,
    Todo,
    WriteTodos,
)
from patchwright.core.types.base import Value
from patchwright.core.types.work import Evidence, Limits

# The kinds of events that say anything of it.
SUMMARY_KINDS: Final = frozenset(
    {
        "evidence_recorded",
        "model_called",
        "model_reply",
        "raise_limits",
        "run_started",
        "write_todos",
    }
)


class RunSummary(Value):
    """Folded up to the event `last_id`; `limits` are those that hold by now."""

    title: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    limits: Limits | None = None
    evidence: tuple[Evidence, ...] = ()
    todos: tuple[Todo, ...] = ()
    totals: ModelCallTotals = ModelCallTotals()
    steps: int = 0
    last_id: int = 0


def update_summary(known: RunSummary, events: Iterable[Event]) -> RunSummary:
    """Return what is known after more events; those already read do not count."""
    for event in events:
        if event.id > known.last_id:
            call = read_call(event)
            totals = known.totals.with_call(call) if call else known.totals
            known = _after(known, event).replace(totals=totals, last_id=event.id)
    return known


def _after(known: RunSummary, event: Event) -> RunSummary:
    match event.payload:
        case RunStarted(task=task, limits=limits, model=model):
            return known.replace(
                title=task.title, notes=task.notes, limits=limits, model=model
            )
        case RaiseLimits() as more:
            return known.replace(limits=known.limits and _raised(known.limits, more))
        case EvidenceRecorded(evidence=evidence):
            return known.replace(evidence=(*known.evidence, evidence))
        case WriteTodos(todos=todos, agent=""):
            return known.replace(todos=todos)
        case ModelReply():
            return known.replace(steps=known.steps + 1)
        case _:
            return known


def _raised(limits: Limits, more: RaiseLimits) -> Limits:
    return limits.replace(
        max_iterations=limits.max_iterations + more.iterations,
        max_cost_usd=limits.max_cost_usd + more.cost_usd,
    )
