"""Notice a run that goes in circles."""

import hashlib
from collections import deque
from typing import Final

from patchwright.core.agent.results import PROOF_SHORT
from patchwright.core.events import types as ev
from patchwright.core.text.strings import normalise_text
from patchwright.core.types.base import Value

SAME_RESULT_LIMIT: Final = 4
SAME_ERROR_LIMIT: Final = 3
CYCLE_LIMIT: Final = 3
LONGEST_CYCLE: Final = 3
CONDENSED_LIMIT: Final = 3

# How a result came about, not what it is.
_INCIDENTAL = frozenset(
    {"call_id", "agent", "digest", "duration_ms", "full_output_path", "note", "risk"}
)


class RepeatedSteps(Value):
    """The repeated step and how often it came; `error` is its result each time."""

    step: str
    times: int
    error: str = ""


class LoopFinder:
    """Follows one agent's events, and remembers its last few steps as fingerprints.

    `found` is a loop that was closed and not yet written down. `texts_in_a_row` counts
    the replies that called no tool.
    """

    def __init__(self) -> None:
        self.found: RepeatedSteps | None = None
        self.was_warned = False
        self.texts_in_a_row = 0
        self._steps: dict[str, ev.Action | ev.ToolCall] = {}
        self._last: deque[bytes] = deque(maxlen=LONGEST_CYCLE * CYCLE_LIMIT)
        self._condensed = 0
        self._has_asked = True

    def follow(self, event: ev.Event) -> None:
        payload = event.payload
        if isinstance(payload, ev.ModelReply):
            self._has_asked = True
            self._steps = {call.id: call for call in payload.tool_calls}
            if payload.tool_calls:
                self.texts_in_a_row = 0
            elif payload.text:
                self.texts_in_a_row += 1
        elif isinstance(payload, ev.LoopDetected):
            self.found, self.was_warned = None, True
            self._last.clear()
        elif isinstance(payload, ev.Condensed):
            self._count_condensed()
        elif isinstance(payload, ev.Observation):
            self._observe(payload)
        elif isinstance(payload, ev.Action) and payload.call_id in self._steps:
            self._steps[payload.call_id] = payload
            self._condensed = 0

    def _count_condensed(self) -> None:
        """Count once what was condensed in several rounds between two replies."""
        if self._has_asked:
            self._condensed += 1
        self._has_asked = False
        if self._condensed >= CONDENSED_LIMIT:
            self.found = RepeatedSteps(step="condense", times=self._condensed)

    def _observe(self, observation: ev.Observation) -> None:
        step = self._steps.pop(observation.call_id, None)
        if step is None or _is_progress(observation):
            return
        self._last.append(_fingerprint(step, observation))
        error = ""
        if isinstance(observation, ev.ErrorObservation | ev.UserRejected):
            error = observation.text
        times = self._times_in_a_row()
        if times >= (SAME_ERROR_LIMIT if error else SAME_RESULT_LIMIT):
            self.found = RepeatedSteps(
                step=describe_step(step), times=times, error=error
            )
        elif self._is_cycle():
            self.found = RepeatedSteps(
                step=f"a cycle that ends with {describe_step(step)}",
                times=CYCLE_LIMIT,
                error=error,
            )

    def _times_in_a_row(self) -> int:
        newest = self._last[-1]
        different = (n for n, one in enumerate(reversed(self._last)) if one != newest)
        return next(different, len(self._last))

    def _is_cycle(self) -> bool:
        last = list(self._last)
        for period in range(2, LONGEST_CYCLE + 1):
            tail = last[-period * CYCLE_LIMIT :]
            if (
                len(tail) == period * CYCLE_LIMIT
                and tail == tail[:period] * CYCLE_LIMIT
            ):
                return True
        return False


def _is_progress(observation: ev.Observation) -> bool:
    """Tell whether a program that still runs has printed something.

    A proof that falls short is told a few times only, and is no failure of a tool.
    """
    if isinstance(observation, ev.ErrorObservation):
        return observation.reason == PROOF_SHORT
    return (
        isinstance(observation, ev.CommandOutput)
        and observation.still_running
        and bool(observation.output.strip())
    )


# The names that the model knows the tools by; others have that of their action.
TOOL_NAMES: Final = {
    "control_command": "shell_control",
    "edit_file": "edit",
    "read_file": "read",
    "run_command": "shell",
    "run_ipython": "python",
    "search_files": "search",
    "write_file": "write",
    "write_todos": "todo",
}


def describe_step(step: ev.Action | ev.ToolCall) -> str:
    """Name a step in a few words, for people: by its tool, as the model does."""
    if isinstance(step, ev.ToolCall):
        return step.name
    name = TOOL_NAMES.get(step.kind, step.kind)
    if isinstance(step, ev.WriteTodos):
        return f"{name} {_present_todo(step)}".strip()
    if isinstance(step, ev.CallMcpTool):
        return step.tool
    shown = step.model_dump(exclude={"call_id", "agent", "risk", "kind"}, mode="json")
    first = next((str(value) for value in shown.values() if value), "").strip()
    line = first.splitlines()[0][:80] if first else ""
    return f"{name} {line}".strip()


def _present_todo(plan: ev.WriteTodos) -> str:
    left = [todo for todo in plan.todos if todo.state != "done"]
    doing = [todo for todo in left if todo.state == "doing"]
    return next((todo.text.splitlines()[0][:80] for todo in [*doing, *left]), "")


def _fingerprint(step: ev.Action | ev.ToolCall, observation: ev.Observation) -> bytes:
    what = step.model_dump_json(exclude={"call_id", "id", "agent", "risk"})
    result = observation.model_dump_json(exclude=set(_INCIDENTAL))
    text = f"{what}\0{normalise_text(result)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
