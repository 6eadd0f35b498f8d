"""What a model can take: what the settings say, or else the model table."""

from collections.abc import Callable, Mapping

from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.model import ModelTraits
from patchwright.core.llm.prices import DEFAULT_OUTPUT_TOKENS, configured_prices

MAX_TABLE_OUTPUT_TOKENS = 16_384


def model_traits(
    config: ModelConfig, table_entry: Callable[[], Mapping[str, object]]
) -> ModelTraits:
    window = config.context_window or _whole(table_entry().get("max_input_tokens"))
    sees = config.sees_images
    if sees is None:
        sees = table_entry().get("supports_vision") is True
    return ModelTraits(
        context_window=window,
        max_output_tokens=output_limit(config, table_entry),
        sees_images=sees,
        calls_tools=table_entry().get("supports_function_calling") is not False,
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


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
