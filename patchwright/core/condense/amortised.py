"""The condenser that keeps one line of each older turn, without asking a model."""

import re
from typing import Final

from patchwright.core.condense.condenser import Ask, History, Turn
from patchwright.core.condense.parts import LEAST_BYTES, split_history, free_bytes_of, total_bytes
from patchwright.core.condense.summaries import (
    read_summary,
    condense_to_summary,
    summary_bytes,
)
from patchwright.core.events.types import Condensed, ToolCall
from patchwright.core.llm.model import AssistantTurn, ToolResult
from patchwright.core.text.cut import truncate_middle

MAX_SAID_CHARS: Final = 160
MAX_CALL_CHARS: Final = 200
MAX_RESULT_CHARS: Final = 80

_LEFT_OUT: Final = re.compile(r"\((\d+) earlier lines are left out\)")


class AmortisedCondenser:
    """Forgets how things were found out, and remembers what was done."""

    name = "amortised"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        return list_steps(history)


def list_steps(history: History) -> Condensed | None:
    """Replace the older turns by a list, whose oldest lines go where room is short."""
    parts = split_history(history)
    lines = [line for turn in parts.older for line in _lines_of(turn)]
    room = free_bytes_of(history) - total_bytes(parts.newest) - summary_bytes(history.facts)
    kept = _newest_that_fit(lines, max(room, LEAST_BYTES))
    return condense_to_summary(history, parts.older, "\n".join(kept))


def _lines_of(turn: Turn) -> list[str]:
    earlier = read_summary(turn)
    if earlier is not None:
        return earlier.splitlines()
    return [f"- {line}"] if (line := _line_of(turn)) else []


def _line_of(turn: Turn) -> str:
    results = {
        message.call_id: message.text
        for message in turn.messages
        if isinstance(message, ToolResult)
    }
    parts: list[str] = []
    for message in turn.messages:
        if isinstance(message, ToolResult):
            continue
        if said := _short(message.text, MAX_SAID_CHARS):
            parts.append(said)
        if isinstance(message, AssistantTurn):
            parts += [_step(call, results) for call in message.tool_calls]
    return "; ".join(parts)


def _step(call: ToolCall, results: dict[str, str]) -> str:
    lines = results.get(call.id, "").strip().splitlines()
    ending = _short(lines[-1], MAX_RESULT_CHARS) if lines else ""
    return f"{call.name} {_short(call.arguments, MAX_CALL_CHARS)} -> {ending}"


def _newest_that_fit(lines: list[str], room_bytes: int) -> list[str]:
    left_out = 0
    if lines and (found := _LEFT_OUT.fullmatch(lines[0])):
        left_out, lines = int(found[1]), lines[1:]
    kept = list(lines)
    sizes = [len(line.encode(errors="replace")) + 1 for line in kept]
    size, at = sum(sizes), 0
    while at < len(kept) and size > room_bytes:
        size -= sizes[at]
        at += 1
    left_out += at
    note = [f"({left_out} earlier lines are left out)"] if left_out else []
    return [*note, *kept[at:]]


def _short(text: str, max_chars: int) -> str:
    """Return the beginning and the end of a text in one line."""
    return " ".join(truncate_middle(" ".join(text.split()), max_chars).split())
