"""Say what a try of a model call costs: at most before it, and in fact after it."""

import math
from collections.abc import Callable, Mapping

from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.counts import ReportedUsage
from patchwright.core.llm.failures import Failure
from patchwright.core.llm.library import load_litellm
from patchwright.core.llm.prices import (
    Prices,
    configured_prices,
    highest_prices,
    estimated_output,
)
from patchwright.core.llm.replies import Reply
from patchwright.core.types.work import NO_USAGE, Usage


def shown_usage(answer: Reply | Failure, took: Usage, prompt_tokens: int) -> Usage:
    """Return what a try took for those who read of it, at the price that it has.

    The tokens of a reply that nobody counted are estimated, of a prompt of about
    `prompt_tokens`: the chat goes by them, and the most would have it shortened early.
    """
    if isinstance(answer, Failure):
        return took
    return Usage(
        cost_usd=took.cost_usd,
        tokens_in=answer.reported.tokens_in or prompt_tokens,
        tokens_out=answer.reported.tokens_out or estimated_output(answer),
        tokens_cached=took.tokens_cached,
        tokens_cache_written=took.tokens_cache_written,
    )


class Billing:
    """Knows the prices of one model; the table is looked up only where it must be."""

    def __init__(
        self, config: ModelConfig, table_entry: Callable[[], Mapping[str, object]]
    ) -> None:
        self._config = config
        self._table_entry = table_entry

    def most_usd(self, tokens_in: int, tokens_out: int) -> float | None:
        prices = configured_prices(self._config) or highest_prices(self._table_entry())
        return None if prices is None else prices.most(tokens_in, tokens_out)

    def bill(self, answer: Reply | Failure, most: Usage) -> Usage:
        """Return what a try took: what the provider counts, else what it can be.

        `most` is what was reserved for it.
        """
        match answer:
            case Failure(may_be_billed=False):
                return NO_USAGE
            case Failure(reported=told):
                return self._usage(told, most) if told.is_whole else most
            case Reply(reported=told):
                return self._usage(told, most)

    def _usage(self, told: ReportedUsage, most: Usage) -> Usage:
        """Return what is told, and the most there can be of what is not."""
        counted = Usage(
            tokens_in=told.tokens_in or most.tokens_in,
            tokens_out=told.tokens_out or most.tokens_out,
            tokens_cached=told.tokens_cached,
            tokens_cache_written=told.tokens_cache_written,
        )
        known = told.cost_usd is not None
        return Usage(
            **{
                **dict(counted),
                "cost_usd": told.cost_usd if known else self._cost_usd(counted),
            }
        )

    def _cost_usd(self, usage: Usage) -> float | None:
        if prices := configured_prices(self._config):
            return prices.cost(usage)
        prices = highest_prices(self._table_entry())
        return None if prices is None else self._table_cost(usage, prices)

    def _table_cost(self, usage: Usage, dearest: Prices) -> float:
        """Return litellm's figure, or the dearest where that cannot be one."""
        try:
            parts = load_litellm().litellm.cost_per_token(
                model=self._config.model,
                prompt_tokens=usage.tokens_in,
                completion_tokens=usage.tokens_out,
                cache_read_input_tokens=usage.tokens_cached,
                cache_creation_input_tokens=usage.tokens_cache_written,
            )
        except Exception:  # noqa: BLE001 - litellm lets errors of any kind through
            return dearest.cost(usage)
        total = sum(parts)
        may_be = math.isfinite(total) and min(parts) >= 0
        return total if may_be else dearest.cost(usage)
