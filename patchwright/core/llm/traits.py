"""What a model can take: what the settings say, or else the model table."""

import math
from collections.abc import Callable, Mapping

from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.model import ModelCapabilities
from patchwright.core.llm.prices import (
    DEFAULT_OUTPUT_TOKENS,
    Prices,
    configured_prices,
    highest_prices,
)

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
