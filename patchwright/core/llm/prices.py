"""What a model call costs, and what it can cost at most."""

from collections.abc import Callable, Mapping

from pydantic import TypeAdapter

from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.model import AssistantTurn, ChatMessage, ModelRequest
from patchwright.core.llm.replies import Reply
from patchwright.core.types.base import Value
from patchwright.core.types.work import Usage

DEFAULT_OUTPUT_TOKENS = 8192
MAX_TABLE_OUTPUT_TOKENS = 16_384
# Role markers and call ids: no provider spends more than this around a message.
TOKENS_AROUND_MESSAGE = 32
BYTES_PER_TOKEN = 3

_AMOUNT = TypeAdapter(float)


class Prices(Value):
    """USD for one token, at its dearest."""

    input_usd: float
    output_usd: float

    def cost(self, usage: Usage) -> float:
        return usage.tokens_in * self.input_usd + usage.tokens_out * self.output_usd


def configured_prices(config: ModelConfig) -> Prices | None:
    if config.input_cost_per_token is None or config.output_cost_per_token is None:
        return None
    return Prices(
        input_usd=config.input_cost_per_token, output_usd=config.output_cost_per_token
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


def output_limit(
    config: ModelConfig, table_entry: Callable[[], Mapping[str, object]]
) -> int | None:
    """Return how many tokens a reply may have, or None to leave it to the provider.

    What costs money is bounded, or else nothing could be reserved for it. The table is
    looked up only where the settings do not say enough.
    """
    if config.max_output_tokens is not None:
        return config.max_output_tokens
    if prices := configured_prices(config):
        quarter = (config.context_window or 4 * DEFAULT_OUTPUT_TOKENS) // 4
        return min(DEFAULT_OUTPUT_TOKENS, quarter) if prices.output_usd else None
    stated = table_entry().get("max_output_tokens")
    return min(stated, MAX_TABLE_OUTPUT_TOKENS) if isinstance(stated, int) else None


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
    texts = sum(
        len(text.encode(errors="replace")) + TOKENS_AROUND_MESSAGE
        for message in request.messages
        for text in _texts(message)
    )
    tools = sum(len(tool.model_dump_json()) for tool in request.tools)
    return texts + tools


def estimated_usage(request: ModelRequest, reply: Reply) -> Usage:
    """Estimate what a provider that counts nothing has used, not too low."""
    said = reply.text + "".join(call.arguments for call in reply.tool_calls)
    return Usage(
        cost_usd=reply.usage.cost_usd,
        tokens_in=most_prompt_tokens(request) // BYTES_PER_TOKEN,
        tokens_out=len(said.encode()) // BYTES_PER_TOKEN + 1,
    )


def _texts(message: ChatMessage) -> list[str]:
    if not isinstance(message, AssistantTurn):
        return [message.text]
    calls = [call.name + call.arguments for call in message.tool_calls]
    return [message.text, *calls, *(str(block) for block in message.reasoning)]
