"""Leave out of a chat what a condensation says."""

from collections.abc import Sequence
from typing import Final

from patchwright.core.condense.condenser import Turn
from patchwright.core.events.types import Condensed
from patchwright.core.llm.model import ChatMessage, ToolResult, UserText

# A shorter result would not get much shorter; and what is masked is not masked again.
MASKED_FROM_BYTES: Final = 200


def apply_condensation(turns: Sequence[Turn], condensed: Condensed) -> tuple[Turn, ...]:
    """Return the turns as they are from this condensation on.

    The summary takes the place and the id of the last turn that goes, so that it comes
    after the words of people that it covers. Pinned turns stay as they are.
    """
    gone = [turn.id for turn in turns if _goes(turn, condensed)]
    shown: list[Turn] = []
    for turn in turns:
        if not _goes(turn, condensed):
            shown.append(_masked(turn) if _is_masked(turn, condensed) else turn)
        elif turn.id == gone[-1] and condensed.summary:
            shown.append(_summary(turn.id, condensed.summary))
    return tuple(shown)


def text_bytes(text: str) -> int:
    """Return the size of a text as `Turn.size_bytes` counts it."""
    return len(text.encode(errors="replace"))


def size_after(turns: Sequence[Turn], condensed: Condensed) -> int:
    """Return how many bytes the turns have after the condensation."""
    return sum(turn.size_bytes for turn in apply_condensation(turns, condensed))


def _goes(turn: Turn, condensed: Condensed) -> bool:
    inside = 0 < condensed.first_id <= turn.id <= condensed.last_id
    return inside and not turn.is_pinned


def _is_masked(turn: Turn, condensed: Condensed) -> bool:
    return turn.id <= condensed.masked_to and not turn.is_pinned


def _masked(turn: Turn) -> Turn:
    messages = tuple(map(_without_result, turn.messages))
    saved = sum(
        text_bytes(old.text) - text_bytes(new.text)
        for old, new in zip(turn.messages, messages, strict=True)
    )
    return turn.replace(messages=messages, size_bytes=turn.size_bytes - saved)


def _without_result(message: ChatMessage) -> ChatMessage:
    if not isinstance(message, ToolResult):
        return message
    size = text_bytes(message.text)
    if size <= MASKED_FROM_BYTES:
        return message
    text = f"[result left out: {size:,} bytes; run it again if needed]"
    return ToolResult(call_id=message.call_id, text=text)


def _summary(turn_id: int, text: str) -> Turn:
    size = text_bytes(text)
    return Turn(id=turn_id, messages=(UserText(text=text),), size_bytes=size)
