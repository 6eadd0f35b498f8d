"""Ask a model through litellm: the only file that knows it, and it imports it late."""

import gc
import logging
import os
import random
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple, Protocol, cast

from pydantic import JsonValue, ValidationError

from patchwright.core.clock import Clock
from patchwright.core.events.types import ModelReply
from patchwright.core.llm.bounded import call_within
from patchwright.core.llm.calls import call_arguments, model_reply
from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.explain import declined, explain, nothing_said
from patchwright.core.llm.failures import Failure, Fault, understand
from patchwright.core.llm.model import ModelRequest
from patchwright.core.llm.prices import (
    ceiling,
    configured_prices,
    dearest_prices,
    estimated_usage,
    output_limit,
)
from patchwright.core.llm.refusals import read_refusal
from patchwright.core.llm.replies import Reply, read_reply
from patchwright.core.llm.retry import OnWait, Patience
from patchwright.core.types.work import NO_USAGE, Usage

EMPTY_REPLY_TRIES = 3
LONGEST_TRY_S = 300.0


def preload() -> None:
    """Start the import, which takes seconds, so that it overlaps with other work.

    A call that comes too early waits for the rest of it.
    """
    threading.Thread(target=_load, name="litellm-import", daemon=True).start()


def wait_silently(wait_s: float, reason: str) -> None:
    """Tell nobody that a call waits."""


class LitellmModel:
    """A model of any provider that litellm knows; safe to share between threads."""

    def __init__(
        self,
        config: ModelConfig,
        clock: Clock,
        *,
        on_wait: OnWait = wait_silently,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name = config.model
        self._config = config
        self._clock = clock
        self._patience = Patience(clock, jitter, on_wait)

    def complete(self, request: ModelRequest) -> ModelReply:
        arguments = call_arguments(self._config, request, self._max_output())
        deadline_at = self._clock.monotonic() + request.deadline_s
        spent, tries = NO_USAGE, 0
        while tries == 0 or self._may_repeat(request, spent, tries):
            asked_at = self._clock.monotonic()
            reply = self._patience.ask(
                lambda left_s: self._try(arguments, request, left_s), deadline_at
            )
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
        return ceiling(prices, request, self._max_output())

    def _may_repeat(self, request: ModelRequest, spent: Usage, tries: int) -> bool:
        if tries >= EMPTY_REPLY_TRIES:
            return False
        if request.max_cost_usd is None or spent.cost_usd is None:
            return True
        worst_usd = self.ceiling_usd(request) or spent.cost_usd
        return spent.cost_usd + worst_usd <= request.max_cost_usd

    def _max_output(self) -> int | None:
        return output_limit(self._config, self._table_entry)

    def _table_entry(self) -> Mapping[str, object]:
        return _table_entry(self.name)

    def _try(
        self, arguments: Mapping[str, object], request: ModelRequest, left_s: float
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

    def _send(
        self, arguments: Mapping[str, object], request: ModelRequest
    ) -> Reply | Failure:
        library = _load()
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
        cost_usd = prices.cost(reply.usage) if prices else self._table_cost(reply)
        usage = reply.usage.model_copy(update={"cost_usd": cost_usd})
        return reply.model_copy(update={"usage": usage})

    def _table_cost(self, reply: Reply) -> float | None:
        if dearest_prices(self._table_entry()) is None:
            return None
        parts = _load().litellm.cost_per_token(
            model=self.name,
            prompt_tokens=reply.usage.tokens_in,
            completion_tokens=reply.usage.tokens_out,
            cache_read_input_tokens=reply.usage.tokens_cached,
            cache_creation_input_tokens=reply.tokens_written_to_cache,
        )
        return sum(parts)


class _Dumpable(Protocol):
    def model_dump(self) -> dict[str, JsonValue]: ...


class _Litellm(Protocol):
    """What is used of litellm."""

    model_cost: Mapping[str, Mapping[str, object]]

    def completion(self, **arguments: object) -> _Dumpable: ...

    def cost_per_token(
        self,
        *,
        model: str,
        prompt_tokens: int,
        completion_tokens: int,
        cache_read_input_tokens: int,
        cache_creation_input_tokens: int,
    ) -> tuple[float, float]: ...


class _Library(NamedTuple):
    """litellm, and the error that all of its errors are."""

    litellm: _Litellm
    error: type[Exception]


@cache
def _load() -> _Library:
    """Import litellm so that it is quiet and asks nobody but the provider."""
    # Settings that litellm reads while it is imported: no price table or notices from
    # the network, and no .env file of whatever folder this process runs in.
    os.environ["LITELLM_OFFLINE_MODE"] = "true"  # noqa: TID251 - its only switch
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"  # noqa: TID251 - its only switch
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # noqa: TID251 - its only switch
    with _garbage_left_alone():
        import litellm  # noqa: PLC0415 - takes seconds
        from openai import OpenAIError  # noqa: PLC0415 - comes with litellm

    # pydantic would warn on the console of each field that a provider gets wrong.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    return _Library(cast("_Litellm", litellm), OpenAIError)


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """Import without looking for garbage among what is there to stay.

    Looking takes a third of the import's time, and at the process's end over a second.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _table_entry(model: str) -> Mapping[str, object]:
    """Return the model's row of litellm's price table; empty when it has none.

    A row is named `provider/model`, or `model` alone and then says its provider.
    `get_model_info` would find it too, but says 0 for a price that is not there.
    """
    table = _load().litellm.model_cost
    provider, _, name = model.rpartition("/")
    row = table.get(name, {})
    bare = row if provider in ("", row.get("litellm_provider")) else {}
    return table.get(model, bare)
