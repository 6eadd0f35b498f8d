"""Write down turns in full, for the model that summarises them."""

from collections.abc import Iterable, Iterator
from typing import Final

from patchwright.core.condense.condenser import Turn
from patchwright.core.condense.summaries import read_summary
from patchwright.core.llm.model import AssistantTurn, ChatMessage, ToolResult
from patchwright.core.text.cut import truncate_middle

# Longer ones say what matters at their ends, as far as anything that long can.
MAX_TEXT_CHARS: Final = 8_000


def write_transcript(turns: Iterable[Turn]) -> str:
    return "\n\n".join(entry for turn in turns for entry in _entries(turn))


def _entries(turn: Turn) -> Iterator[str]:
    earlier = read_summary(turn)
    if earlier is not None:
        yield f"An earlier summary:\n{earlier}"
        return
    for message in turn.messages:
        yield from _message_entries(message)


def _message_entries(message: ChatMessage) -> Iterator[str]:
    text = truncate_middle(message.text.strip(), MAX_TEXT_CHARS)
    if isinstance(message, ToolResult):
        yield f"Result of {message.call_id}:\n{text}"
        return
    who = "The agent said" if isinstance(message, AssistantTurn) else "It was told"
    if text:
        yield f"{who}:\n{text}"
    if isinstance(message, AssistantTurn):
        for call in message.tool_calls:
            arguments = truncate_middle(call.arguments, MAX_TEXT_CHARS)
            yield f"Call {call.id}: {call.name} {arguments}"
