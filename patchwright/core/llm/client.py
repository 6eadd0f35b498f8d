"""Ask a model through litellm."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from patchwright.core.clock import Clock
from patchwright.core.events.types import ModelReply
from patchwright.core.llm.billing import Billing, shown_usage
from patchwright.core.llm.budget import (
    CallWatch,
    LimitError,
    TokenLimitError,
    reserve,
)
from patchwright.core.llm.calls import call_arguments, model_reply
from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.explain import declined_error, error_for_failure, empty_reply_error
from patchwright.core.llm.failures import Failure, Fault
from patchwright.core.llm.library import table_entry
from patchwright.core.llm.model import ModelRequest, ModelCapabilities
from patchwright.core.llm.prices import most_prompt_tokens, usual_prompt_tokens
from patchwright.core.llm.replies import Reply
from patchwright.core.llm.retry import RetryPolicy
from patchwright.core.llm.room import LEAST_OUTPUT, output_allowed
from patchwright.core.llm.sending import send
from patchwright.core.llm.traits import model_capabilities, output_limit
from patchwright.core.types.work import NO_USAGE, Usage

# What may have been billed and came to nothing is not asked for more often.
BILLED_TRIES = 3
LONGEST_TRY_S = 300.0


@dataclass(frozen=True)
class _OutputParameter:
    """How a model wants to be told the most tokens of a reply, as it has said."""

    name: str = "max_tokens"
    limit: int | None = None


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
        self.config = config
        self.clock = clock
        self.retry_policy = RetryPolicy(clock, jitter)
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
            answer = self._model.retry_policy.ask(self._try, deadline_at, self._watch)
            took_s = clock.monotonic() - asked_at
            if isinstance(answer, Reply):
                if reply := self._read(answer, took_s):
                    return reply
            elif not self._adapts_to(answer):
                raise error_for_failure(answer, self._model.config, self._spent, waited_s=took_s)

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
