"""A provider's reply in one form that can be repeated, with its tokens and price."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import ModelRequest
from patchwright.core.llm.tool_calls import (
    SentCall,
    read_calls,
    read_fields,
    read_sent_call,
)
from patchwright.core.llm.wire import SentReasoning, read_reasoning
from patchwright.core.text.strings import well_formed
from patchwright.core.types.base import Value

# No answer takes more: what is beyond is a mistake that must not break the sums.
_MOST_TOKENS: Final = 10**7
_MOST_USD: Final = 10.0**6
_MOST_DIGITS: Final = 20


class ReportedUsage(Value):
    """A provider's own count; what it does not tell, or cannot be, is None."""

    cost_usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int = 0
    tokens_cache_written: int = 0

    @property
    def is_whole(self) -> bool:
        """Tell whether the price of the answer follows from it."""
        counted = self.tokens_in is not None and self.tokens_out is not None
        return counted or self.cost_usd is not None


NOTHING_REPORTED: Final = ReportedUsage()


def read_reported_usage(value: JsonValue) -> ReportedUsage:
    """Read a usage as OpenAI writes it, or as Anthropic does.

    Some leave what was cached out of the prompt: then it comes on top.
    """
    usage = _table(value)
    details = _table(usage.get("prompt_tokens_details")) or _table(
        usage.get("input_tokens_details")
    )
    cached = _count(details, "cached_tokens") or _count(
        usage, "cache_read_input_tokens"
    )
    written = _count(details, "cache_write_tokens", "cache_creation_tokens") or _count(
        usage, "cache_creation_input_tokens"
    )
    prompt = _count(usage, "prompt_tokens", "input_tokens")
    beside = cached + written
    return ReportedUsage(
        cost_usd=_amount(usage.get("cost")),
        tokens_in=(prompt if beside <= prompt else prompt + beside) or None,
        tokens_out=_count(usage, "completion_tokens", "output_tokens") or None,
        tokens_cached=cached,
        tokens_cache_written=written,
    )


def _count(table: Mapping[str, JsonValue], *names: str) -> int:
    """Return the first number of tokens under one of the names, or 0."""
    counts = (_whole(table.get(name)) for name in names)
    return next(filter(None, counts), 0)


def _whole(value: JsonValue) -> int:
    number = _number(value)
    if number is None or number <= 0:
        return 0
    return math.ceil(min(number, _MOST_TOKENS))


def _amount(value: JsonValue) -> float | None:
    """Return a cost that can be one: a negative figure would refill the budget."""
    number = _number(value)
    if number is None or number < 0:
        return None
    return float(min(number, _MOST_USD))


def _number(value: JsonValue) -> int | float | None:
    match value:
        case bool() | None:
            return None
        case int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case str() if len(value) <= _MOST_DIGITS:
            return _parsed(value)
        case _:
            return None


def _parsed(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _table(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


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

    An answer with an unusual form is read as far as possible, because it is paid for; a
    call that cannot be run is reported to the model.
    """
    usage = read_reported_usage(dump.get("usage"))
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
        reported=usage,
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


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
