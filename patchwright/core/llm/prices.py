"""A configured model: what it costs, and what it can take."""

import json
import math
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from pydantic import SecretStr, TypeAdapter

from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    ModelCapabilities,
    ModelRequest,
    UserText,
    tokens_in_bytes,
)
from patchwright.core.llm.replies import Reply
from patchwright.core.text.strings import well_formed
from patchwright.core.types.base import Value
from patchwright.core.types.work import Usage


class ModelConfig(Value):
    """A model as the settings describe it.

    `model` is litellm's name, `provider/name`; `openai/NAME` with a `base_url` is any
    server with the OpenAI protocol. Prices are in USD for one token, and both input and
    output are needed; together they override the price table.
    """

    model: str
    api_key: SecretStr | None = None
    base_url: str | None = None
    api_version: str | None = None
    input_cost_per_token: float | None = None
    output_cost_per_token: float | None = None
    cached_cost_per_token: float | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    sees_images: bool | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None

    @property
    def place(self) -> str:
        """Name the model for people: what it is, and on which host."""
        return f"{self.model} at {self.host}" if self.host else self.model

    @property
    def host(self) -> str:
        """Return host and port; empty where only the client library knows them."""
        return _host(self.base_url) if self.base_url else ""


def _host(url: str) -> str:
    """Return host and port of a URL, without the credentials it may carry."""
    return urlsplit(url).netloc.rpartition("@")[2] or "its base URL"


DEFAULT_OUTPUT_TOKENS = 8192
# Role markers and call ids: no provider spends more than this around a message.
TOKENS_AROUND_MESSAGE = 32
# The most that any provider counts for one: gpt-4o-mini, at the highest detail.
# https://platform.openai.com/docs/guides/images-vision#calculating-costs
MOST_TOKENS_PER_IMAGE = 50_000
USUAL_TOKENS_PER_IMAGE = 2000

_AMOUNT = TypeAdapter(float)
_INPUT_PRICES = (
    "input_cost_per_token",
    "input_cost_per_image_token",
    "cache_creation_input_token_cost",
    "cache_read_input_token_cost",
)
_OUTPUT_PRICES = ("output_cost_per_token", "output_cost_per_reasoning_token")


class Prices(Value):
    """USD for one token, at its dearest; what was cached may cost less.

    What a provider says it had in its cache beyond the prompt counts as prompt.
    """

    input_usd: float
    output_usd: float
    cached_usd: float | None = None

    def cost(self, usage: Usage) -> float:
        prompt, told = max(0, usage.tokens_in), max(0, usage.tokens_cached)
        cached = 0 if self.cached_usd is None else min(told, prompt)
        plain = max(prompt, told) - cached
        return (
            plain * self.input_usd
            + cached * (self.cached_usd or 0.0)
            + max(0, usage.tokens_out) * self.output_usd
        )

    def most(self, tokens_in: int, tokens_out: int) -> float:
        """Return what so many tokens cost at their dearest, cached or not."""
        dearest_usd = max(self.input_usd, self.cached_usd or 0.0)
        return tokens_in * dearest_usd + tokens_out * self.output_usd


def configured_prices(config: ModelConfig) -> Prices | None:
    if config.input_cost_per_token is None or config.output_cost_per_token is None:
        return None
    return Prices(
        input_usd=config.input_cost_per_token,
        output_usd=config.output_cost_per_token,
        cached_usd=config.cached_cost_per_token,
    )


def highest_prices(entry: Mapping[str, object]) -> Prices | None:
    """Return the highest prices of an entry of the table, over all its tiers.

    An entry that states no price is not free: there is no price.
    """
    stated = ("input_cost_per_token", "output_cost_per_token")
    if any(entry.get(key) is None for key in stated):
        return None
    return Prices(
        input_usd=_highest(entry, _INPUT_PRICES),
        output_usd=_highest(entry, _OUTPUT_PRICES),
    )


def _highest(entry: Mapping[str, object], beginnings: tuple[str, ...]) -> float:
    return max(
        _AMOUNT.validate_python(value)
        for key, value in entry.items()
        if key.startswith(beginnings) and value is not None
    )


def most_prompt_tokens(request: ModelRequest) -> int:
    """Return a number of tokens that the prompt cannot exceed.

    Tokenizers work on bytes and give each token at least one; code takes about four.
    """
    return _prompt_bytes(request) + MOST_TOKENS_PER_IMAGE * image_count(request)


def usual_prompt_tokens(request: ModelRequest) -> int:
    """Estimate the tokens of the prompt, not too low."""
    images = USUAL_TOKENS_PER_IMAGE * image_count(request)
    return tokens_in_bytes(_prompt_bytes(request)) + images


def _prompt_bytes(request: ModelRequest) -> int:
    texts = sum(_size(text) for message in request.messages for text in _texts(message))
    tools = (json.dumps(one.model_dump(), ensure_ascii=False) for one in request.tools)
    return texts + sum(map(_size, tools))


def _size(text: str) -> int:
    return len(well_formed(text).encode()) + TOKENS_AROUND_MESSAGE


def image_count(request: ModelRequest) -> int:
    texts = (text for text in request.messages if isinstance(text, UserText))
    return sum(len(text.images) for text in texts)


def estimated_output(reply: Reply) -> int:
    """Estimate the tokens that a reply has taken, where its provider does not count."""
    text = reply.text + "".join(call.arguments for call in reply.tool_calls)
    return tokens_in_bytes(len(text.encode())) + 1


def _texts(message: ChatMessage) -> list[str]:
    if not isinstance(message, AssistantTurn):
        return [message.text]
    calls = [call.name + call.arguments for call in message.tool_calls]
    return [message.text, *calls, *(str(block) for block in message.reasoning)]


MAX_TABLE_OUTPUT_TOKENS = 16_384
# What costs nothing that is known may think for longer.
UNPRICED_OUTPUT_TOKENS = 16_384
# A reply never gets more than this part of a window by default.
_WINDOW_PART = 4


def model_capabilities(
    config: ModelConfig, table_entry: Callable[[], Mapping[str, object]]
) -> ModelCapabilities:
    window = config.context_window or _whole(table_entry().get("max_input_tokens"))
    sees = config.sees_images
    if sees is None:
        sees = table_entry().get("supports_vision") is True
    return ModelCapabilities(
        context_window=window,
        max_output_tokens=output_limit(config, table_entry),
        sees_images=sees,
        calls_tools=table_entry().get("supports_function_calling") is not False,
    )


def output_limit(
    config: ModelConfig, table_entry: Callable[[], Mapping[str, object]]
) -> int:
    """Return how many tokens a reply may have: what is not bounded has no ceiling.

    The table is looked up only where the settings do not say enough.
    """
    if config.max_output_tokens is not None:
        return config.max_output_tokens
    if prices := configured_prices(config):
        return _usual_limit(config.context_window, prices)
    entry = table_entry()
    if stated := _whole(entry.get("max_output_tokens")):
        return min(stated, MAX_TABLE_OUTPUT_TOKENS)
    window = config.context_window or _whole(entry.get("max_input_tokens"))
    return _usual_limit(window, highest_prices(entry))


def _usual_limit(window: int | None, prices: Prices | None) -> int:
    costs = prices is not None and prices.output_usd > 0
    usual = DEFAULT_OUTPUT_TOKENS if costs else UNPRICED_OUTPUT_TOKENS
    return usual if window is None else max(1, min(usual, window // _WINDOW_PART))


def _whole(value: object) -> int | None:
    """Return a number of tokens; a table may write it as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if math.isfinite(value) and value >= 1 else None
