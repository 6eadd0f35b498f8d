"""The state of a run, folded from its events."""

from patchwright.core.events.types import (
    AgentState,
    ChangeState,
    Event,
    ModelReply,
    StateChanged,
)
from patchwright.core.types.base import Value
from patchwright.core.types.work import NO_USAGE, Usage


class RunState(Value):
    """What the limits and the status comment are judged by.

    `wanted` is a state that a person asked for and the run has not reached yet.
    """

    state: AgentState = AgentState.LOADING
    iterations: int = 0
    usage: Usage = NO_USAGE
    wanted: AgentState | None = None
    wanted_by: str = ""


def fold(run: RunState, event: Event) -> RunState:
    """Return the state after one more event."""
    payload = event.payload
    if isinstance(payload, ModelReply):
        return run.model_copy(
            update={
                "iterations": run.iterations + 1,
                "usage": run.usage + payload.usage,
            }
        )
    if isinstance(payload, StateChanged):
        return run.model_copy(update={"state": payload.state})
    if isinstance(payload, ChangeState):
        return run.model_copy(
            update={"wanted": payload.state, "wanted_by": payload.reason}
        )
    return run
