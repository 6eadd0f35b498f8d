"""What a model call costs, and what it can cost at most."""

from collections.abc import Mapping

from pydantic import TypeAdapter

from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    ModelRequest,
    UserText,
)
from patchwright.core.llm.replies import Reply
from patchwright.core.llm.room import tokens_of
from patchwright.core.types.base import Value
from patchwright.core.types.work import Usage

DEFAULT_OUTPUT_TOKENS = 8192
# Role markers and call ids: no provider spends more than this around a message.
TOKENS_AROUND_MESSAGE = 32
# The most that any provider counts for one: gpt-4o-mini, at the highest detail.
# https://platform.openai.com/docs/guides/images-vision#calculating-costs
MOST_TOKENS_PER_IMAGE = 50_000
USUAL_TOKENS_PER_IMAGE = 2000

_AMOUNT = TypeAdapter(float)


class Prices(Value):
    """USD for one token, at its dearest; what was cached may cost less."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None

    def cost(self, usage: Usage) -> float:
        cached = 0 if self.cached_usd is None else usage.tokens_cached
        return (
            (usage.tokens_in - cached) * self.input_usd
            + cached * (self.cached_usd or 0.0)
            + usage.tokens_out * self.output_usd
        )


def configured_prices(config: ModelConfig) -> Prices | None:
    if config.input_cost_per_token is None or config.output_cost_per_token is None:
        return None
    return Prices(
        input_usd=config.input_cost_per_token,
        output_usd=config.output_cost_per_token,
        cached_usd=config.cached_cost_per_token,
    )


def dearest_prices(entry: Mapping[str, object]) -> Prices | None:
    """Return the highest prices of an entry of the table, over all its tiers.

    An entry that states no price is not free: there is no price.
    """
    stated = ("input_cost_per_token", "output_cost_per_token")
    if any(entry.get(key) is None for key in stated):
        return None
    into = ("input_cost_per_token", "cache_creation_input_token_cost")
    return Prices(
        input_usd=_highest(entry, into),
        output_usd=_highest(entry, ("output_cost_per_token",)),
    )


def _highest(entry: Mapping[str, object], beginnings: tuple[str, ...]) -> float:
    return max(
        _AMOUNT.validate_python(value)
        for key, value in entry.items()
        if key.startswith(beginnings) and value is not None
    )


def ceiling(prices: Prices, request: ModelRequest, max_output: int | None) -> float:
    most = Usage(
        tokens_in=most_prompt_tokens(request),
        tokens_out=DEFAULT_OUTPUT_TOKENS if max_output is None else max_output,
    )
    return prices.cost(most)


def most_prompt_tokens(request: ModelRequest) -> int:
    """Return a number of tokens that the prompt cannot exceed.

    Tokenizers work on bytes and give each token at least one; code takes about four.
    """
    return _prompt_bytes(request) + MOST_TOKENS_PER_IMAGE * image_count(request)


def usual_prompt_tokens(request: ModelRequest) -> int:
    """Estimate the tokens of the prompt, not too low."""
    images = USUAL_TOKENS_PER_IMAGE * image_count(request)
    return tokens_of(_prompt_bytes(request)) + images


def _prompt_bytes(request: ModelRequest) -> int:
    texts = sum(
        len(text.encode(errors="replace")) + TOKENS_AROUND_MESSAGE
        for message in request.messages
        for text in _texts(message)
    )
    return texts + sum(len(tool.model_dump_json()) for tool in request.tools)


def image_count(request: ModelRequest) -> int:
    texts = (text for text in request.messages if isinstance(text, UserText))
    return sum(len(text.images) for text in texts)


def estimated_usage(request: ModelRequest, reply: Reply) -> Usage:
    """Estimate what a provider that counts nothing has used, not too low."""
    said = reply.text + "".join(call.arguments for call in reply.tool_calls)
    return Usage(
        cost_usd=reply.usage.cost_usd,
        tokens_in=usual_prompt_tokens(request),
        tokens_out=tokens_of(len(said.encode())) + 1,
    )


def _texts(message: ChatMessage) -> list[str]:
    if not isinstance(message, AssistantTurn):
        return [message.text]
    calls = [call.name + call.arguments for call in message.tool_calls]
    return [message.text, *calls, *(str(block) for block in message.reasoning)]
