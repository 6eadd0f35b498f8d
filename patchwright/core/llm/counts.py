"""What a provider says that an answer took: its count of tokens, and its price."""

import math
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

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
    """Return the first number of tokens that is told by one of the names, or 0."""
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
