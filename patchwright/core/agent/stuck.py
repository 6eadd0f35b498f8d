"""Notice a run that goes in circles."""

import hashlib
import re

from patchwright.core.events.types import (
    Action,
    CommandOutput,
    ErrorObservation,
    Observation,
    ToolCall,
)
from patchwright.core.types.base import Value

SAME_RESULT_LIMIT = 4
SAME_ERROR_LIMIT = 3

# What differs between two runs of the same command without meaning anything.
_VOLATILE = re.compile(
    r"0x[0-9a-fA-F]+"
    r"|\b\d+(?:\.\d+)?\s?(?:ms|s|seconds)\b"
    r"|\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\b"
    r"|/tmp/[^\s'\"]+"
    r"|\bpid[ =:]*\d+"
)


class Loop(Value):
    """What is repeated, how often, and whether it fails each time."""

    step: str
    times: int
    failing: bool


class LoopFinder:
    """Counts how often the same step had the same result, one after the other."""

    def __init__(self) -> None:
        self._last = b""
        self._times = 0

    def add(self, step: Action | ToolCall, observation: Observation) -> Loop | None:
        """Return the loop that this step closes, if it closes one.

        Waiting for a command that still runs is not going in circles.
        """
        if isinstance(observation, CommandOutput) and observation.still_running:
            return None
        fingerprint = _fingerprint(step, observation)
        self._times = self._times + 1 if fingerprint == self._last else 1
        self._last = fingerprint
        failing = isinstance(observation, ErrorObservation)
        if self._times < (SAME_ERROR_LIMIT if failing else SAME_RESULT_LIMIT):
            return None
        return Loop(step=describe(step), times=self._times, failing=failing)

    def reset(self) -> None:
        self._last, self._times = b"", 0


def describe(step: Action | ToolCall) -> str:
    """Name a step in a few words, for people."""
    if isinstance(step, ToolCall):
        return step.name
    shown = step.model_dump(exclude={"call_id", "kind"}, mode="json")
    first = next((str(value) for value in shown.values() if value), "").strip()
    line = first.splitlines()[0][:80] if first else ""
    return f"{step.kind} {line}".strip()


def _fingerprint(step: Action | ToolCall, observation: Observation) -> bytes:
    what = step.model_dump_json(exclude={"call_id", "id"})
    text = f"{what}\0{_stable_text(observation)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _stable_text(observation: Observation) -> str:
    if isinstance(observation, CommandOutput):
        return f"{observation.exit_code} {_VOLATILE.sub('~', observation.output)}"
    return _VOLATILE.sub("~", observation.model_dump_json(exclude={"call_id"}))
