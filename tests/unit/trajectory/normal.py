"""Events without what differs from one run of the same thing to the next."""

from collections.abc import Sequence
from typing import Final

from patchwright.core.events.actions import Delegate
from patchwright.core.events.observations import (
    CheckpointTaken,
    ModelReply,
    StateChanged,
)
from patchwright.core.events.payload import AgentState
from patchwright.core.events.types import Event, Observation
from patchwright.core.replay.comparison import (
    Normal,
    normalise_result,
    without_incidents,
)
from patchwright.core.replay.recorded_inputs import in_order_noticed

_PASSING: Final = frozenset(
    {AgentState.LOADING, AgentState.RUNNING, AgentState.RATE_LIMITED}
)


def normalise(events: Sequence[Event]) -> list[Normal]:
    """Return what a faithful replay of these events has in common with them.

    Ids become places: a cause is the number of the event in what is returned. What
    only says when something was, such as a wait for a provider, is left out.
    """
    kept = [event for event in in_order_noticed(events) if not _is_passing(event)]
    places = {event.id: place for place, event in enumerate(kept)}
    delegates = [one for one in kept if isinstance(one.payload, Delegate)]
    names = {str(one.id): f"delegate {n}" for n, one in enumerate(delegates, start=1)}
    return [_normal(event, places, names) for event in kept]


def _is_passing(event: Event) -> bool:
    payload = event.payload
    if isinstance(payload, StateChanged):
        return payload.state in _PASSING
    return isinstance(payload, CheckpointTaken)


def _normal(event: Event, places: dict[int, int], names: dict[str, str]) -> Normal:
    payload = event.payload
    if isinstance(payload, Observation):
        tree = {"call_id": payload.call_id, **normalise_result(payload)}
    else:
        tree = without_incidents(payload.model_dump(mode="json"))
    # What a reply had seen depends on when people spoke.
    cause = None if isinstance(payload, ModelReply) else places.get(event.cause or 0)
    agent = names.get(payload.agent, payload.agent)
    return {"source": event.source.value, "cause": cause, **tree, "agent": agent}
