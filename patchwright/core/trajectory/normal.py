"""Results without what differs from one run of the same thing to the next."""

from typing import Final

from pydantic import JsonValue

from patchwright.core.events.types import (
    DelegateResult,
    ErrorObservation,
    Observation,
)
from patchwright.core.text.steady import normalise_text
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


def normalise_result(observation: Observation) -> Normal:
    """Return an observation in the form in which two runs can be compared."""
    tree = observation.model_dump(mode="json", exclude={"call_id", "agent"})
    if isinstance(observation, ErrorObservation) and observation.reason == _LISTING:
        # The tools that are there are not what the answer is about.
        tree["text"] = observation.text.partition(". ")[0]
    if isinstance(observation, DelegateResult) and (
        observation.outcome is OutcomeKind.OVER_BUDGET
    ):
        tree["summary"] = ""
    return without_incidents(tree)


def without_incidents(tree: Normal) -> Normal:
    """Leave out of a tree what differs from one run of the same thing to the next."""
    return {key: _calm(tree[key]) for key in sorted(tree) if key not in _INCIDENTAL}


def _calm(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return normalise_text(value)
    if isinstance(value, dict):
        return without_incidents(value)
    if isinstance(value, list):
        return [_calm(one) for one in value]
    return value
