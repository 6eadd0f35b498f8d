"""The state and the metrics of a run, folded from its events."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, Literal, get_args

from patchwright.core.events import types as ev
from patchwright.core.types.base import Value
from patchwright.core.types.work import NO_USAGE, Limits, TaskMode, Usage

S = ev.AgentState

# A run that ended may be taken up again only where a person's word ends the waiting.
TRANSITIONS: Final[dict[ev.AgentState, frozenset[ev.AgentState]]] = {
    S.LOADING: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.RUNNING: frozenset(
        {
            S.LOADING,
            S.PAUSED,
            S.AWAITING_USER_INPUT,
            S.AWAITING_USER_CONFIRMATION,
            # A waiting run is loaded again when the answer has arrived.
            S.USER_CONFIRMED,
            S.USER_REJECTED,
            S.RATE_LIMITED,
            S.FINISHED,
            S.REJECTED,
            S.STOPPED,
            S.ERROR,
        }
    ),
    # It is limited again, until later.
    S.RATE_LIMITED: frozenset(
        {S.LOADING, S.RUNNING, S.RATE_LIMITED, S.PAUSED, S.STOPPED, S.ERROR}
    ),
    S.PAUSED: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.AWAITING_USER_INPUT: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.AWAITING_USER_CONFIRMATION: frozenset(
        {S.LOADING, S.USER_CONFIRMED, S.USER_REJECTED, S.PAUSED, S.STOPPED, S.ERROR}
    ),
    S.USER_CONFIRMED: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.USER_REJECTED: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.FINISHED: frozenset({S.LOADING}),
    S.REJECTED: frozenset({S.LOADING}),
    S.STOPPED: frozenset({S.LOADING}),
    S.ERROR: frozenset({S.LOADING}),
}

ENDED: Final = frozenset({S.FINISHED, S.REJECTED, S.STOPPED, S.ERROR})
WaitingState = Literal[
    ev.AgentState.PAUSED,
    ev.AgentState.AWAITING_USER_INPUT,
    ev.AgentState.AWAITING_USER_CONFIRMATION,
]
WAITING: Final[frozenset[ev.AgentState]] = frozenset(get_args(WaitingState))


def may_change(before: ev.AgentState, after: ev.AgentState) -> bool:
    return after in TRANSITIONS[before]


_WORKING = frozenset({ev.AgentState.RUNNING, ev.AgentState.RATE_LIMITED})
_FINISHED = frozenset({ev.AgentState.FINISHED, ev.AgentState.REJECTED})
# Requests of a person that stay valid; others end when they are fulfilled.
_LASTING = frozenset(
    {ev.AgentState.USER_CONFIRMED, ev.AgentState.USER_REJECTED, ev.AgentState.STOPPED}
)


class RunState(Value):
    """All that a run has to know of its past, besides its chats.

    `wanted` is the last request of a person, from the event `wanted_id`, that the run
    has not fulfilled yet; a yes or no stays, because it is about one action only.
    `worked_s` is the time it has worked until `last_at`, without what it waited for
    people or for another worker. `has_run` says that its sandbox was set up once,
    `held_as` that it waits in that state and nobody has said anything since.
    `checkpoint` is the event up to which the work tree is kept, `finished_id` the one
    by which the agent's work had ended. Iterations and usage are those of delegates
    too. `is_planning` says that a plan is wanted first, and that nobody has approved
    one yet.
    """

    state: ev.AgentState = ev.AgentState.LOADING
    has_run: bool = False
    held_as: WaitingState | None = None
    rate_limited_until: datetime | None = None
    iterations: int = 0
    usage: Usage = NO_USAGE
    more_iterations: int = 0
    more_cost_usd: float = 0.0
    wanted: ev.ChangeState | None = None
    wanted_id: int = 0
    asked: ev.ConfirmationAsked | None = None
    checkpoint: int = 0
    finished_id: int = 0
    is_planning: bool = False
    last_error: str = ""
    worked_s: float = 0.0
    last_at: datetime | None = None

    def allowed(self, limits: Limits) -> Limits:
        """Return the limits with what people have added to them since."""
        return limits.replace(
            max_iterations=limits.max_iterations + self.more_iterations,
            max_cost_usd=limits.max_cost_usd + self.more_cost_usd,
        )

    def elapsed_s(self, now: datetime) -> float:
        """Return how long the run has worked if it works now."""
        if self.state not in _WORKING or self.last_at is None:
            return self.worked_s
        return self.worked_s + max(0.0, (now - self.last_at).total_seconds())


def fold(run: RunState, event: ev.Event) -> RunState:
    """Return the state after one more event."""
    worked_s = run.worked_s if _is_loading(event) else run.elapsed_s(event.at)
    return _with_payload(run, event).replace(last_at=event.at, worked_s=worked_s)


def _with_payload(run: RunState, event: ev.Event) -> RunState:
    """Return the state after the event, except the time that has passed."""
    payload = event.payload
    if isinstance(payload, ev.ModelReply):
        return run.replace(
            iterations=run.iterations + 1,
            usage=run.usage + payload.usage,
            finished_id=0,
        )
    if isinstance(payload, ev.ModelCalled):
        return run.replace(usage=run.usage + payload.usage)
    if isinstance(payload, ev.StateChanged):
        return _after_change(run, event.id, payload)
    if isinstance(payload, ev.ChangeState):
        return run.replace(wanted=payload, wanted_id=event.id, held_as=None)
    if _is_word(event):
        return run.replace(held_as=None)
    if isinstance(payload, ev.RaiseLimits):
        return run.replace(
            more_iterations=run.more_iterations + payload.iterations,
            more_cost_usd=run.more_cost_usd + payload.cost_usd,
        )
    return _noted(run, payload)


def _noted(run: RunState, payload: ev.AnyPayload) -> RunState:
    """Return the state with what only has to be known."""
    match payload:
        case ev.ConfirmationAsked():
            return run.replace(asked=payload)
        case ev.CheckpointTaken(up_to=up_to):
            return run.replace(checkpoint=up_to)
        case ev.RunStarted(task=task):
            return run.replace(is_planning=task.mode is TaskMode.PLAN)
        case ev.PlanApproved():
            return run.replace(is_planning=False)
        case _:
            return run


def _after_change(run: RunState, event_id: int, change: ev.StateChanged) -> RunState:
    wanted = run.wanted.state if run.wanted else None
    reached = wanted is change.state and wanted not in _LASTING
    failed = change.state is ev.AgentState.ERROR
    return run.replace(
        state=change.state,
        finished_id=event_id if change.state in _FINISHED else run.finished_id,
        held_as=_as_waiting(change.state) or run.held_as,
        has_run=run.has_run or change.state is ev.AgentState.RUNNING,
        rate_limited_until=_waits_until(run, change),
        wanted=None if reached else run.wanted,
        last_error=change.reason if failed else run.last_error,
    )


def _as_waiting(state: ev.AgentState) -> WaitingState | None:
    match state:
        case S.PAUSED | S.AWAITING_USER_INPUT | S.AWAITING_USER_CONFIRMATION:
            return state
        case _:
            return None


def _is_word(event: ev.Event) -> bool:
    """Tell whether this is what a person said, as the system has repeated it."""
    is_answer = event.source is ev.Source.SYSTEM and event.cause is not None
    return (
        is_answer and isinstance(event.payload, ev.Message) and not event.payload.agent
    )


def _waits_until(run: RunState, change: ev.StateChanged) -> datetime | None:
    """Return until when the model is not to be asked, also for who takes over."""
    taken_over = change.state is ev.AgentState.LOADING
    return run.rate_limited_until if taken_over else change.until


def _is_loading(event: ev.Event) -> bool:
    """Tell whether another worker takes over here: nobody worked until then."""
    payload = event.payload
    return (
        isinstance(payload, ev.StateChanged) and payload.state is ev.AgentState.LOADING
    )


MAIN: Final = "main"
DELEGATE: Final = "delegate"


class ModelCall(Value):
    """One model call: `main` and `delegate` are the roles of those who take steps.

    `failure` is the reason if it failed. A cost that is None is unknown.
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

    def with_calls(self, calls: Iterable[ModelCall]) -> "ModelCallTotals":
        """Add many at once: the same as one after the other, in a part of the time."""
        every = tuple(calls)
        if not every:
            return self
        prices = [one.usage.cost_usd for one in every]
        known = [one for one in prices if one is not None]
        return ModelCallTotals(
            calls=self.calls + len(every),
            failures=self.failures + sum(bool(one.failure) for one in every),
            usage=self.usage.with_all(one.usage for one in every),
            latency_ms=self.latency_ms + sum(one.latency_ms for one in every),
            priced_usd=sum(known, self.priced_usd),
            unpriced=self.unpriced + len(prices) - len(known),
        )

    def with_call(self, call: ModelCall) -> "ModelCallTotals":
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


def measure(events: Iterable[ev.Event]) -> RunMetrics:
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


def read_call(event: ev.Event) -> ModelCall | None:
    """Return the model call that an event stands for, if it does."""
    payload = event.payload
    if isinstance(payload, ev.ModelReply):
        role = DELEGATE if payload.agent else MAIN
        failure = "" if has_answer(payload) else payload.stop_reason
    elif isinstance(payload, ev.ModelCalled):
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


def has_answer(reply: ev.ModelReply) -> bool:
    """Tell whether the model said anything: a call that failed is a reply as well."""
    return bool(reply.text or reply.tool_calls)


def find_attempts(events: Iterable[ev.Event]) -> Iterator[tuple[int, ev.AttemptStart]]:
    """Yield each start of an attempt, with the id of its event."""
    for event in events:
        payload = event.payload
        if isinstance(payload, ev.StateChanged) and payload.attempt is not None:
            yield event.id, payload.attempt
