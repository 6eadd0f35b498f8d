"""Read a provider's reply, whatever it looks like, into one that can be repeated."""

import math

from pydantic import JsonValue

from patchwright.core.events.types import ToolCall
from patchwright.core.llm.model import ModelRequest
from patchwright.core.llm.reasoning import SentReasoning, read_reasoning
from patchwright.core.llm.tool_calls import SentCall, read_calls
from patchwright.core.text.surrogates import well_formed_tree
from patchwright.core.types.base import Value
from patchwright.core.types.work import Usage


class _Message(SentReasoning):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[SentCall] | None = None


class _Choice(Value):
    message: _Message = _Message()
    finish_reason: str | None = None


class _TokenDetails(Value):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_creation_tokens: int | None = None


class _Usage(Value):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _TokenDetails | None = None
    cost: float | None = None


class Completion(Value):
    """A completion as litellm returns it, from whichever provider."""

    choices: list[_Choice] = []
    usage: _Usage | None = None


class Reply(Value):
    """What a completion says. `usage.cost_usd` is the provider's figure, if any."""

    text: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    malformed: dict[str, str] = {}
    reasoning: tuple[dict[str, JsonValue], ...] = ()
    stop_reason: str = ""
    usage: Usage

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.tool_calls

    @property
    def is_declined(self) -> bool:
        return self.stop_reason == "content_filter" or bool(
            self.refusal and self.is_empty
        )


def read_reply(dump: dict[str, JsonValue], request: ModelRequest) -> Reply:
    """Read the JSON form of litellm's answer to `request`."""
    completion = Completion.model_validate(well_formed_tree(dump))
    counted = completion.usage or _Usage()
    if not completion.choices:
        return Reply(usage=_usage(counted))
    choice = completion.choices[0]
    read = read_calls(choice.message.tool_calls or [], request)
    return Reply(
        text=choice.message.content or "",
        refusal=choice.message.refusal or "",
        tool_calls=read.calls,
        malformed=read.malformed,
        reasoning=read_reasoning(choice.message, read.extras),
        stop_reason=choice.finish_reason or "",
        usage=_usage(counted),
    )


def _usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details or _TokenDetails()
    return Usage(
        cost_usd=_amount(usage.cost),
        tokens_in=max(0, usage.prompt_tokens),
        tokens_out=max(0, usage.completion_tokens),
        tokens_cached=details.cached_tokens or 0,
        tokens_cache_written=_written_to_cache(details),
    )


def _amount(cost: float | None) -> float | None:
    """Return a cost that can be one: a negative figure would refill the budget."""
    return cost if cost is not None and 0 <= cost < math.inf else None


def _written_to_cache(details: _TokenDetails) -> int:
    return details.cache_write_tokens or details.cache_creation_tokens or 0
