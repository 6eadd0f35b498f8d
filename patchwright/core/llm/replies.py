"""Read a provider's reply, whatever it looks like, into one that can be repeated."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from patchwright.core.events.types import ToolCall
from patchwright.core.llm.counts import NOTHING_REPORTED, ReportedUsage, read_reported_usage
from patchwright.core.llm.model import ModelRequest
from patchwright.core.llm.reasoning import SentReasoning, read_reasoning
from patchwright.core.llm.tool_calls import (
    SentCall,
    read_calls,
    read_fields,
    read_sent_call,
)
from patchwright.core.text.surrogates import well_formed
from patchwright.core.types.base import Value

_TEXT_PARTS = frozenset({"text", "output_text", None})


class Reply(Value):
    """What a completion says, and what its provider counts for it."""

    text: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    malformed: dict[str, str] = {}
    reasoning: tuple[dict[str, JsonValue], ...] = ()
    stop_reason: str = ""
    reported: ReportedUsage = NOTHING_REPORTED

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.tool_calls

    @property
    def is_declined(self) -> bool:
        return self.stop_reason == "content_filter" or bool(
            self.refusal and self.is_empty
        )


def read_reply(dump: Mapping[str, JsonValue], request: ModelRequest) -> Reply:
    """Read the JSON form of an answer to `request`.

    What has an odd form is read as far as it can be: the answer is paid for, and a call
    that cannot be run is told to the model.
    """
    told = read_reported_usage(dump.get("usage"))
    choice = _table(_first(dump.get("choices")))
    message = _table(choice.get("message")) or {"content": choice.get("text")}
    read = read_calls(_sent_calls(message), request)
    return Reply(
        text=_text(message.get("content")),
        refusal=_text(message.get("refusal")),
        tool_calls=read.calls,
        malformed=read.malformed,
        reasoning=read_reasoning(_sent_reasoning(message), read.extras),
        stop_reason=_word(choice.get("finish_reason")),
        reported=told,
    )


def _text(content: JsonValue) -> str:
    """Return a text that may come whole, or as one part or several."""
    match content:
        case str():
            return well_formed(content)
        case list():
            return "".join(
                _text(part) for part in content if not isinstance(part, list)
            )
        case dict() if content.get("type") in _TEXT_PARTS:
            inner = content.get("text")
            return well_formed(inner) if isinstance(inner, str) else ""
        case int() | float() if not isinstance(content, bool):
            return str(content)
        case _:
            return ""


def _sent_calls(message: Mapping[str, JsonValue]) -> Sequence[SentCall]:
    sent = message.get("tool_calls")
    listed = [sent] if isinstance(sent, dict) else sent
    calls = listed if isinstance(listed, list) else []
    # As OpenAI's protocol had it before there could be several calls.
    older: JsonValue = {"function": message.get("function_call")}
    if not calls and message.get("function_call"):
        calls = [older]
    return [read_sent_call(call) for call in calls if isinstance(call, dict)]


def _sent_reasoning(message: Mapping[str, JsonValue]) -> SentReasoning:
    blocks = message.get("thinking_blocks")
    fields = message.get("provider_specific_fields")
    return SentReasoning(
        thinking_blocks=_tables(blocks) if isinstance(blocks, list) else None,
        reasoning_content=_text(message.get("reasoning_content")) or None,
        provider_specific_fields=read_fields(fields),
    )


def _tables(values: Sequence[JsonValue]) -> list[dict[str, JsonValue]]:
    return [table for value in values if (table := read_fields(value))]


def _first(value: JsonValue) -> JsonValue:
    return value[0] if isinstance(value, list) and value else None


def _table(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
