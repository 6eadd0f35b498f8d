"""The state of a run, folded from its events."""

from datetime import datetime

from patchwright.core.events.states import WAITING
from patchwright.core.events.types import (
    AgentState,
    AnyPayload,
    ChangeState,
    CheckpointTaken,
    ConfirmationAsked,
    Event,
    Message,
    ModelCalled,
    ModelReply,
    PlanApproved,
    RaiseLimits,
    RunStarted,
    Source,
    StateChanged,
)
from patchwright.core.types.base import Value
from patchwright.core.types.work import NO_USAGE, Limits, TaskMode, Usage

_WORKING = frozenset({AgentState.RUNNING, AgentState.RATE_LIMITED})
_FINISHED = frozenset({AgentState.FINISHED, AgentState.REJECTED})
# What a person has said once and for all; other wishes end when they are fulfilled.
_LASTING = frozenset(
    {AgentState.USER_CONFIRMED, AgentState.USER_REJECTED, AgentState.STOPPED}
)


class RunState(Value):
    """All that a run has to know of its past, besides its chats.

    `wanted` is what a person asked for last, by the event `wanted_id`, and the run has
    not done yet; a yes or no stays, being about one action only. `worked_s` is the time
    it has worked until `last_at`, without what it waited for people or for another
    worker. `has_run` says that its sandbox was set up once, `held_as` that it waits
    in that state and nobody has said anything since. `checkpoint` is the event up to
    which the work tree is kept, `finished_id` the one by which the agent's work had
    ended. Iterations and usage are those of delegates too. `is_planning` says that a
    plan is wanted first, and that nobody has approved one yet.
    """

    state: AgentState = AgentState.LOADING
    has_run: bool = False
    waiting_state: AgentState | None = None
    rate_limited_until: datetime | None = None
    iterations: int = 0
    usage: Usage = NO_USAGE
    more_iterations: int = 0
    more_cost_usd: float = 0.0
    wanted: ChangeState | None = None
    wanted_id: int = 0
    asked: ConfirmationAsked | None = None
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


def fold(run: RunState, event: Event) -> RunState:
    """Return the state after one more event."""
    worked_s = run.worked_s if _is_loading(event) else run.elapsed_s(event.at)
    return _with_payload(run, event).replace(last_at=event.at, worked_s=worked_s)


def _with_payload(run: RunState, event: Event) -> RunState:
    """Return the state with what the event says, but for the time that has passed."""
    payload = event.payload
    if isinstance(payload, ModelReply):
        return run.replace(
            iterations=run.iterations + 1,
            usage=run.usage + payload.usage,
            finished_id=0,
        )
    if isinstance(payload, ModelCalled):
        return run.replace(usage=run.usage + payload.usage)
    if isinstance(payload, StateChanged):
        return _after_change(run, event.id, payload)
    if isinstance(payload, ChangeState):
        return run.replace(wanted=payload, wanted_id=event.id, waiting_state=None)
    if _is_word(event):
        return run.replace(waiting_state=None)
    if isinstance(payload, RaiseLimits):
        return run.replace(
            more_iterations=run.more_iterations + payload.iterations,
            more_cost_usd=run.more_cost_usd + payload.cost_usd,
        )
    return _noted(run, payload)


def _noted(run: RunState, payload: AnyPayload) -> RunState:
    """Return the state with what only has to be known."""
    match payload:
        case ConfirmationAsked():
            return run.replace(asked=payload)
        case CheckpointTaken(up_to=up_to):
            return run.replace(checkpoint=up_to)
        case RunStarted(task=task):
            return run.replace(is_planning=task.mode is TaskMode.PLAN)
        case PlanApproved():
            return run.replace(is_planning=False)
        case _:
            return run


def _after_change(run: RunState, event_id: int, change: StateChanged) -> RunState:
    wanted = run.wanted.state if run.wanted else None
    reached = wanted is change.state and wanted not in _LASTING
    failed = change.state is AgentState.ERROR
    return run.replace(
        state=change.state,
        finished_id=event_id if change.state in _FINISHED else run.finished_id,
        waiting_state=change.state if change.state in WAITING else run.waiting_state,
        has_run=run.has_run or change.state is AgentState.RUNNING,
        rate_limited_until=_waits_until(run, change),
        wanted=None if reached else run.wanted,
        last_error=change.reason if failed else run.last_error,
    )


def _is_word(event: Event) -> bool:
    """Tell whether this is what a person said, as the system has repeated it."""
    is_answer = event.source is Source.SYSTEM and event.cause is not None
    return is_answer and isinstance(event.payload, Message) and not event.payload.agent


def _waits_until(run: RunState, change: StateChanged) -> datetime | None:
    """Return until when the model is not to be asked, also for who takes over."""
    taken_over = change.state is AgentState.LOADING
    return run.rate_limited_until if taken_over else change.until


def _is_loading(event: Event) -> bool:
    """Tell whether another worker takes over here: nobody worked until then."""
    payload = event.payload
    return isinstance(payload, StateChanged) and payload.state is AgentState.LOADING
