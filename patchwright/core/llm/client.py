"""Ask a model through litellm."""

import random
from collections.abc import Callable, Mapping

from pydantic import ValidationError

from patchwright.core.clock import Clock
from patchwright.core.events.types import ModelReply
from patchwright.core.llm.bounded import call_within
from patchwright.core.llm.calls import call_arguments, model_reply
from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.explain import declined, explain, nothing_said
from patchwright.core.llm.failures import Failure, Fault, understand
from patchwright.core.llm.library import load, table_entry
from patchwright.core.llm.model import CallWatch, ModelRequest, ModelTraits
from patchwright.core.llm.prices import (
    ceiling,
    configured_prices,
    dearest_prices,
    estimated_usage,
)
from patchwright.core.llm.refusals import read_refusal
from patchwright.core.llm.replies import Reply, read_reply
from patchwright.core.llm.retry import Patience
from patchwright.core.llm.traits import model_traits, output_limit
from patchwright.core.types.work import NO_USAGE, Usage

EMPTY_REPLY_TRIES = 3
LONGEST_TRY_S = 300.0

_Arguments = Mapping[str, object]


class LitellmModel:
    """A model of any provider that litellm knows; safe to share between threads.

    A thread that waits for it may be left behind: it keeps no process alive.
    """

    def __init__(
        self,
        config: ModelConfig,
        clock: Clock,
        *,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name = config.model
        self._config = config
        self._clock = clock
        self._patience = Patience(clock, jitter)

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        arguments = call_arguments(self._config, request, self.traits())
        deadline_at = self._clock.monotonic() + request.deadline_s
        spent, tries = NO_USAGE, 0
        while tries == 0 or self._may_repeat(request, spent, tries):
            asked_at = self._clock.monotonic()
            reply = self._ask(arguments, request, deadline_at, watch)
            took_s = self._clock.monotonic() - asked_at
            if isinstance(reply, Failure):
                raise explain(reply, self._config, spent, waited_s=took_s)
            tries += 1
            spent += reply.usage
            if reply.is_declined:
                raise declined(reply.refusal or reply.text, self._config, spent)
            if not reply.is_empty:
                return model_reply(reply, self.name, spent, latency_s=took_s)
        raise nothing_said(self._config, spent, tries)

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        prices = configured_prices(self._config) or dearest_prices(self._table_entry())
        if prices is None:
            return None
        return ceiling(prices, request, output_limit(self._config, self._table_entry))

    def traits(self) -> ModelTraits:
        return model_traits(self._config, self._table_entry)

    def _may_repeat(self, request: ModelRequest, spent: Usage, tries: int) -> bool:
        if tries >= EMPTY_REPLY_TRIES:
            return False
        if request.max_cost_usd is None or spent.cost_usd is None:
            return True
        worst_usd = self.ceiling_usd(request) or spent.cost_usd
        return spent.cost_usd + worst_usd <= request.max_cost_usd

    def _table_entry(self) -> Mapping[str, object]:
        return table_entry(self.name)

    def _ask(
        self,
        arguments: _Arguments,
        request: ModelRequest,
        deadline_at: float,
        watch: CallWatch | None,
    ) -> Reply | Failure:
        """Ask until there is an answer; with a lower reserve where that helps."""
        reply = self._patience.ask(
            lambda left_s: self._try(arguments, request, left_s), deadline_at, watch
        )
        if not isinstance(reply, Failure) or reply.output_room is None:
            return reply
        lowered = {**arguments, "max_tokens": reply.output_room}
        return self._patience.ask(
            lambda left_s: self._try(lowered, request, left_s), deadline_at, watch
        )

    def _try(
        self, arguments: _Arguments, request: ModelRequest, left_s: float
    ) -> Reply | Failure:
        limit_s = min(left_s, LONGEST_TRY_S)
        if limit_s <= 0:
            return Failure(fault=Fault.UNAVAILABLE, detail="no time was left")
        try:
            return call_within(
                limit_s, lambda: self._send({**arguments, "timeout": limit_s}, request)
            )
        except TimeoutError:
            detail = f"no answer within {limit_s:.0f} s"
            return Failure(fault=Fault.UNAVAILABLE, detail=detail)

    def _send(self, arguments: _Arguments, request: ModelRequest) -> Reply | Failure:
        library = load()
        try:
            completion = library.litellm.completion(
                **arguments, num_retries=0, max_retries=0, drop_params=True
            )
            reply = read_reply(completion.model_dump(), request)
        except library.error as error:
            return understand(read_refusal(error), self._clock.now())
        except ValidationError as error:
            detail = f"its answer has an unknown form ({error.error_count()} faults)"
            return Failure(fault=Fault.UNAVAILABLE, detail=detail)
        if reply.usage.tokens_in + reply.usage.tokens_out == 0:
            reply = reply.model_copy(update={"usage": estimated_usage(request, reply)})
        return reply if reply.usage.cost_usd is not None else self._priced(reply)

    def _priced(self, reply: Reply) -> Reply:
        prices = configured_prices(self._config)
        cost_usd = prices.cost(reply.usage) if prices else self._table_cost(reply.usage)
        usage = reply.usage.model_copy(update={"cost_usd": cost_usd})
        return reply.model_copy(update={"usage": usage})

    def _table_cost(self, usage: Usage) -> float | None:
        if dearest_prices(self._table_entry()) is None:
            return None
        parts = load().litellm.cost_per_token(
            model=self.name,
            prompt_tokens=usage.tokens_in,
            completion_tokens=usage.tokens_out,
            cache_read_input_tokens=usage.tokens_cached,
            cache_creation_input_tokens=usage.tokens_cache_written,
        )
        return sum(parts)
