"""What the model calls of a run took, folded from its events."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from patchwright.core.events.types import Event, ModelCalled, ModelReply
from patchwright.core.types.base import Value
from patchwright.core.types.work import NO_USAGE, Usage

MAIN: Final = "main"
DELEGATE: Final = "delegate"


class ModelCall(Value):
    """One model call: `main` and `delegate` are the roles of those who take steps.

    `failure` is the reason when nothing came of it. A cost that is None is unknown.
    """

    event_id: int
    at: datetime
    role: str
    agent: str
    model: str
    usage: Usage
    latency_ms: int
    failure: str = ""


class ModelCallTotals(Value):
    """Sums over model calls.

    `usage` has no cost as soon as the price of one call is unknown; `priced_usd` is
    what the others cost, and `unpriced` counts those that are not in it.
    """

    calls: int = 0
    failures: int = 0
    usage: Usage = NO_USAGE
    latency_ms: int = 0
    priced_usd: float = 0.0
    unpriced: int = 0

    def with_call(self, call: ModelCall) -> "Totals":
        cost_usd = call.usage.cost_usd
        return ModelCallTotals(
            calls=self.calls + 1,
            failures=self.failures + bool(call.failure),
            usage=self.usage + call.usage,
            latency_ms=self.latency_ms + call.latency_ms,
            priced_usd=self.priced_usd + (cost_usd or 0.0),
            unpriced=self.unpriced + (cost_usd is None),
        )


class RunMetrics(Value):
    """Every model call of a run in order, and what they took together."""

    calls: tuple[ModelCall, ...] = ()
    total: ModelCallTotals = ModelCallTotals()
    by_role: Mapping[str, ModelCallTotals] = {}
    by_model: Mapping[str, ModelCallTotals] = {}


def measure(events: Iterable[Event]) -> RunMetrics:
    """Return the metrics of what happened in these events."""
    calls = tuple(call for event in events if (call := read_call(event)))
    total = ModelCallTotals()
    by_role: defaultdict[str, ModelCallTotals] = defaultdict(ModelCallTotals)
    by_model: defaultdict[str, ModelCallTotals] = defaultdict(ModelCallTotals)
    for call in calls:
        total = total.with_call(call)
        by_role[call.role] = by_role[call.role].with_call(call)
        by_model[call.model] = by_model[call.model].with_call(call)
    return RunMetrics(calls=calls, total=total, by_role=by_role, by_model=by_model)


def read_call(event: Event) -> ModelCall | None:
    """Return the model call that an event stands for, if it does."""
    payload = event.payload
    if isinstance(payload, ModelReply):
        role = DELEGATE if payload.agent else MAIN
        failure = "" if has_answer(payload) else payload.stop_reason
    elif isinstance(payload, ModelCalled):
        role, failure = payload.role, payload.failure
    else:
        return None
    return ModelCall(
        event_id=event.id,
        at=event.at,
        role=role,
        agent=payload.agent,
        model=payload.model,
        usage=payload.usage,
        latency_ms=payload.latency_ms,
        failure=failure,
    )


def has_answer(reply: ModelReply) -> bool:
    """Tell whether the model said anything: a call that failed is a reply as well."""
    return bool(reply.text or reply.tool_calls)
