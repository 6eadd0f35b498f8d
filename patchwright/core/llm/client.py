"""The model client on litellm: arguments, price and retries of a call."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from patchwright.core.events.observations import ModelReply, WaitCause
from patchwright.core.llm.errors import CallWatch, LimitError, TokenLimitError, reserve
from patchwright.core.llm.failures import Failure, Fault
from patchwright.core.llm.library import load_litellm, table_entry
from patchwright.core.llm.model import (
    LEAST_OUTPUT,
    AssistantTurn,
    ModelCapabilities,
    ModelRequest,
    output_allowed,
)
from patchwright.core.llm.prices import (
    ModelConfig,
    Prices,
    configured_prices,
    estimated_output,
    highest_prices,
    model_capabilities,
    most_prompt_tokens,
    output_limit,
    usual_prompt_tokens,
)
from patchwright.core.llm.provider_errors import (
    declined_error,
    empty_reply_error,
    error_for_failure,
)
from patchwright.core.llm.replies import Reply, ReportedUsage
from patchwright.core.llm.transport import RetryPolicy, send
from patchwright.core.llm.waiting import UNREACHABLE, Patience
from patchwright.core.llm.wire import (
    is_thinking,
    wants_cache_marks,
    wire_messages,
    wire_tools,
)
from patchwright.core.system.clock import Clock
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
            case Failure(reported=reported):
                return self._usage(reported, most) if reported.is_whole else most
            case Reply(reported=reported):
                return self._usage(reported, most)

    def _usage(self, reported: ReportedUsage, most: Usage) -> Usage:
        """Return the reported numbers; a missing one gets its highest value."""
        counted = Usage(
            tokens_in=reported.tokens_in or most.tokens_in,
            tokens_out=reported.tokens_out or most.tokens_out,
            tokens_cached=reported.tokens_cached,
            tokens_cache_written=reported.tokens_cache_written,
        )
        known = reported.cost_usd is not None
        return Usage(
            **{
                **dict(counted),
                "cost_usd": reported.cost_usd if known else self._cost_usd(counted),
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


# A server of one's own often wants no key, but the client library wants one to send,
# and would otherwise take a key for somebody else's server from the environment.
NO_KEY = "no-key"
# Or litellm would make a signature of Gemini's part of the call's id, which another
# provider refuses for its length.
SIGNATURES_APART: Mapping[str, object] = {"thought_signature_in_tool_call_id": False}
# The options of your own server are in no table; it gets those that are set.
EFFORT_PASSED_ON: Mapping[str, object] = {"allowed_openai_params": ["reasoning_effort"]}


def call_arguments(
    config: ModelConfig, request: ModelRequest, capabilities: ModelCapabilities
) -> dict[str, object]:
    """Return the arguments, except the longest reply: tries differ in that."""
    optional = {
        "tools": wire_tools(request.tools) or None,
        "temperature": config.temperature,
        "reasoning_effort": _effort(config, request),
        "api_base": config.base_url,
        "api_version": config.api_version,
        "api_key": _key(config),
    }
    return {
        "model": config.model,
        "messages": wire_messages(
            request.messages,
            config.model,
            cache_marks=wants_cache_marks(config.model),
            images=capabilities.sees_images,
        ),
        **SIGNATURES_APART,
        **(EFFORT_PASSED_ON if config.base_url else {}),
        **{key: value for key, value in optional.items() if value is not None},
    }


def _effort(config: ModelConfig, request: ModelRequest) -> str | None:
    """Return how much to think, if it may: Claude must have thought before its calls.

    It refuses to go on thinking after calls that it, or another model in its place,
    made without a thought.
    https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
    """
    if not config.reasoning_effort or not wants_cache_marks(config.model):
        return config.reasoning_effort or None
    turns = [turn for turn in request.messages if isinstance(turn, AssistantTurn)]
    if not turns or not turns[-1].tool_calls:
        return config.reasoning_effort
    is_own = turns[-1].model in ("", config.model)
    may = is_own and is_thinking(turns[-1].reasoning)
    return config.reasoning_effort if may else None


def _key(config: ModelConfig) -> str | None:
    if config.api_key is not None:
        return config.api_key.get_secret_value()
    return NO_KEY if config.base_url else None


def model_reply(
    reply: Reply, model: str, usage: Usage, *, latency_s: float
) -> ModelReply:
    return ModelReply(
        model=model,
        text=reply.text,
        tool_calls=reply.tool_calls,
        malformed=reply.malformed,
        reasoning=reply.reasoning,
        stop_reason=reply.stop_reason,
        usage=usage,
        latency_ms=round(latency_s * 1000),
    )


# What may have been billed and came to nothing is not asked for more often.
BILLED_TRIES = 3
LONGEST_TRY_S = 300.0


@dataclass(frozen=True)
class _OutputParameter:
    """The parameter that sets a model's longest reply, as the model has named it."""

    name: str = "max_tokens"
    limit: int | None = None


class LitellmModel:
    """A model of any provider that litellm knows; safe to share between threads.

    A thread that waits for it may be left behind: it keeps no process alive. Until the
    provider was reached once, `first_call` says how long to try to reach it.
    """

    def __init__(
        self,
        config: ModelConfig,
        clock: Clock,
        *,
        jitter: Callable[[], float] = random.random,
        first_call: Patience = UNREACHABLE,
    ) -> None:
        self.name = config.model
        self.config = config
        self.clock = clock
        self.retry_policy = RetryPolicy(clock, jitter, config.model, config.host)
        self.patience = first_call
        self.billing = Billing(config, self._table_entry)
        self.output = _OutputParameter()

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        return _Call(self, request, watch).complete()

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        limit = output_limit(self.config, self._table_entry)
        return self.billing.most_usd(most_prompt_tokens(request), limit)

    def capabilities(self) -> ModelCapabilities:
        return model_capabilities(self.config, self._table_entry)

    def note_reached(self, answer: Reply | Failure) -> None:
        """Be as patient as usual from now on, if there was a connection."""
        if isinstance(answer, Reply) or answer.cause is not WaitCause.UNREACHABLE:
            self.patience = UNREACHABLE

    def _table_entry(self) -> Mapping[str, object]:
        return table_entry(self.name)


class _Call:
    """One call with all its tries, each reserved before it is made.

    What is reserved and nobody knows to be less is spent: the provider may bill a try
    whose answer never came, or made no sense.
    """

    def __init__(
        self, model: LitellmModel, request: ModelRequest, watch: CallWatch | None
    ) -> None:
        self._model, self._request, self._watch = model, request, watch
        self._capabilities = model.capabilities()
        self._arguments = call_arguments(model.config, request, self._capabilities)
        self._room: int | None = None
        self._spent = NO_USAGE
        self._billed_tries = 0

    def complete(self) -> ModelReply:
        clock = self._model.clock
        deadline_at = clock.monotonic() + self._request.deadline_s
        while True:
            asked_at = clock.monotonic()
            answer = self._model.retry_policy.ask(
                self._try, deadline_at, self._watch, self._model.patience
            )
            took_s = clock.monotonic() - asked_at
            if isinstance(answer, Reply):
                if reply := self._read(answer, took_s):
                    return reply
            elif not self._adapts_to(answer):
                raise error_for_failure(
                    answer, self._model.config, self._spent, waited_s=took_s
                )

    def _read(self, reply: Reply, took_s: float) -> ModelReply | None:
        """Return what the model said, or None if it may be asked once more."""
        config, spent = self._model.config, self._spent
        if reply.is_declined:
            raise declined_error(reply.refusal or reply.text, config, spent)
        if not reply.is_empty:
            return model_reply(reply, self._model.name, spent, latency_s=took_s)
        if self._billed_tries >= BILLED_TRIES:
            raise empty_reply_error(config, spent, self._billed_tries)
        return None

    def _adapts_to(self, failure: Failure) -> bool:
        """Ask for a reply as the model says it can be, if that is something new."""
        output, before = self._model.output, (self._model.output, self._room)
        if failure.wants_new_name:
            output = replace(output, name="max_completion_tokens")
        if failure.output_limit is not None:
            output = replace(output, limit=failure.output_limit)
        if self._room is None and failure.output_budget is not None:
            self._room = failure.output_budget
        self._model.output = output
        return (output, self._room) != before

    def _try(self, left_s: float) -> Reply | Failure:
        limit_s = min(left_s, LONGEST_TRY_S)
        if limit_s <= 0:
            return Failure(fault=Fault.UNAVAILABLE, detail="no time was left")
        output_tokens = self._output_tokens()
        most = self._most(output_tokens)
        settle = self._reserve(most)
        took = shown = most
        try:
            answer = send(
                {**self._arguments, self._model.output.name: output_tokens},
                self._request,
                limit_s=limit_s,
                now=self._model.clock.now(),
            )
            self._model.note_reached(answer)
            took = self._model.billing.bill(answer, most)
            shown = shown_usage(answer, took, self._estimated_prompt)
        finally:
            settle(took)
            self._spent += shown
        return self._counted(answer)

    def _counted(self, answer: Reply | Failure) -> Reply | Failure:
        if isinstance(answer, Failure) and not answer.may_be_billed:
            return answer
        self._billed_tries += 1
        is_last = self._billed_tries >= BILLED_TRIES
        if isinstance(answer, Failure) and is_last:
            return answer.as_last()
        return answer

    def _reserve(self, most: Usage) -> Callable[[Usage], None]:
        try:
            return reserve(self._watch, most)
        except LimitError as error:
            error.usage = self._spent
            raise

    def _most(self, output_tokens: int) -> Usage:
        """Return the most that a try can take; without a cost nobody knows it."""
        return Usage(
            cost_usd=self._model.billing.most_usd(self._most_prompt, output_tokens),
            tokens_in=self._most_prompt,
            tokens_out=output_tokens,
        )

    def _output_tokens(self) -> int:
        """Return what to allow the reply: less where not so much is left."""
        usual = output_allowed(self._capabilities, self._estimated_prompt)
        caps = (usual, self._model.output.limit, self._room)
        wanted = min(cap for cap in caps if cap is not None)
        if self._request.tokens_left is None:
            return wanted
        spent = self._spent.tokens_in + self._spent.tokens_out
        left = self._request.tokens_left - spent - self._most_prompt
        if left < min(wanted, LEAST_OUTPUT):
            raise TokenLimitError(
                "The run's tokens leave no room for one more model call.", self._spent
            )
        return min(wanted, left)

    @cached_property
    def _most_prompt(self) -> int:
        return most_prompt_tokens(self._request)

    @cached_property
    def _estimated_prompt(self) -> int:
        return usual_prompt_tokens(self._request)
