"""Events without what differs from one run of the same thing to the next."""

from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from patchwright.core.events.types import (
    AgentState,
    CheckpointTaken,
    Delegate,
    DelegateResult,
    ErrorObservation,
    Event,
    ModelReply,
    Observation,
    StateChanged,
)
from patchwright.core.text.steady import steady
from patchwright.core.trajectory.noticed import as_noticed
from patchwright.core.types.work import OutcomeKind

Normal = dict[str, JsonValue]

# Who a run is and when it was, what its commits are called (their dates are in the
# name), and how a result came about.
_INCIDENTAL: Final = frozenset(
    {
        "run_id",
        "version",
        "model",
        "latency_ms",
        "duration_ms",
        "seconds",
        "until",
        "full_output_path",
        "dropped_bytes",
        "risk",
        "commit",
        "head_sha",
        "tree",
        "digest",
        "up_to",
    }
)
_LISTING: Final = "unknown-tool"
_PASSING: Final = frozenset(
    {AgentState.LOADING, AgentState.RUNNING, AgentState.RATE_LIMITED}
)


def normalise(events: Sequence[Event]) -> list[Normal]:
    """Return what a faithful replay of these events has in common with them.

    Ids become places: a cause is the number of the event in what is returned. What
    only says when something was, such as a wait for a provider, is left out.
    """
    kept = [event for event in as_noticed(events) if not _is_passing(event)]
    places = {event.id: place for place, event in enumerate(kept)}
    delegates = [one for one in kept if isinstance(one.payload, Delegate)]
    names = {str(one.id): f"delegate {n}" for n, one in enumerate(delegates, start=1)}
    return [_normal(event, places, names) for event in kept]


def normal_result(observation: Observation) -> Normal:
    """Return an observation in the form in which two runs can be compared."""
    tree = observation.model_dump(mode="json", exclude={"call_id", "agent"})
    if isinstance(observation, ErrorObservation) and observation.reason == _LISTING:
        # The tools that are there are not what the answer is about.
        tree["text"] = observation.text.partition(". ")[0]
    if isinstance(observation, DelegateResult) and _is_about_money(observation):
        tree["summary"] = ""
    return _without_incidents(tree)


def _is_about_money(result: DelegateResult) -> bool:
    return result.outcome is OutcomeKind.OVER_BUDGET


def _is_passing(event: Event) -> bool:
    payload = event.payload
    if isinstance(payload, StateChanged):
        return payload.state in _PASSING
    return isinstance(payload, CheckpointTaken)


def _normal(event: Event, places: dict[int, int], names: dict[str, str]) -> Normal:
    payload = event.payload
    if isinstance(payload, Observation):
        tree = {"call_id": payload.call_id, **normal_result(payload)}
    else:
        tree = _without_incidents(payload.model_dump(mode="json"))
    # What a reply had seen depends on when people spoke.
    cause = None if isinstance(payload, ModelReply) else places.get(event.cause or 0)
    agent = names.get(payload.agent, payload.agent)
    return {"source": event.source.value, "cause": cause, **tree, "agent": agent}


def _without_incidents(tree: Normal) -> Normal:
    return {key: _calm(tree[key]) for key in sorted(tree) if key not in _INCIDENTAL}


def _calm(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return steady(value)
    if isinstance(value, dict):
        return _without_incidents(value)
    if isinstance(value, list):
        return [_calm(one) for one in value]
    return value
