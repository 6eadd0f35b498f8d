"""The model calls of an agent: paid, logged, cancelled, and condensed when too long."""

import threading
from concurrent.futures import Future
from datetime import timedelta
from typing import Final

from patchwright.core.agent.agents import AgentDependencies
from patchwright.core.agent.budget import Budget
from patchwright.core.agent.run_log import CancelToken, RunCancelledError, RunLog
from patchwright.core.agent.view import ChatView
from patchwright.core.condense.condenser import History, size_after
from patchwright.core.condense.condensers import smallest_bytes_of
from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog
from patchwright.core.llm.errors import LimitError, ModelError, Settle
from patchwright.core.llm.model import (
    ChatMessage,
    Model,
    ModelRequest,
    SystemText,
    ToolSpec,
    UserText,
    needs_condensing,
)
from patchwright.core.system.clock import Clock, start_call
from patchwright.core.types.work import NO_USAGE, Limits, Usage

ANSWER_GRACE_S: Final = 0.4


class ModelCaller:
    """Makes model calls one at a time.

    Each raises a `ModelError`, a `LimitError`, or what `CancelToken` raises.
    """

    def __init__(
        self,
        run_log: RunLog,
        cancel_token: CancelToken,
        *,
        limits: Limits,
        run_budget: Budget,
        clock: Clock,
        agent: str = "",
    ) -> None:
        self._run_log, self._cancel_token = run_log, cancel_token
        self._limits, self._run_budget, self._clock = limits, run_budget, clock
        self._agent = agent

    def reply(
        self,
        model: Model,
        messages: tuple[ChatMessage, ...],
        tools: tuple[ToolSpec, ...],
    ) -> ev.Event:
        """Ask for the agent's next step."""
        seen_id = self._run_log.last_id
        try:
            reply = self._call(model, messages, tools)
        except (ModelError, LimitError) as error:
            if isinstance(error, LimitError) and error.usage == NO_USAGE:
                raise  # No call was made.
            failed = ev.ModelReply(
                usage=error.usage, stop_reason=error.reason, agent=self._agent
            )
            self._run_log.append(ev.Source.AGENT, failed, seen_id)
            raise
        answer_event = reply.replace(agent=self._agent)
        return self._run_log.append(ev.Source.AGENT, answer_event, seen_id)

    def ask_as_role(
        self, role: str, model: Model, system: str, text: str
    ) -> ev.ModelReply:
        """Ask something that is no step of the agent, in the name of a role."""
        messages = (SystemText(text=system), UserText(text=text))
        called = ev.ModelCalled(role=role, model=model.name, agent=self._agent)
        try:
            reply = self._call(model, messages, ())
        except (ModelError, LimitError) as error:
            if isinstance(error, LimitError) and error.usage == NO_USAGE:
                raise  # No call was made.
            failed = called.replace(usage=error.usage, failure=error.reason)
            self._run_log.append(ev.Source.SYSTEM, failed, None)
            raise
        answered = called.replace(
            text=reply.text, usage=reply.usage, latency_ms=reply.latency_ms
        )
        self._run_log.append(ev.Source.SYSTEM, answered)
        return reply

    def wait_out_rate_limit(self) -> None:
        """Wait as long as the provider has asked for, whichever worker it asked."""
        until, clock = self._run_log.state.rate_limited_until, self._clock
        left_s = (until - clock.now()).total_seconds() if until else 0.0
        if left_s > 0:
            self._cancel_token.wait_for(start_call(lambda: clock.sleep(left_s)))

    def _call(
        self,
        model: Model,
        messages: tuple[ChatMessage, ...],
        tools: tuple[ToolSpec, ...],
    ) -> ev.ModelReply:
        state, limits = self._run_log.state, self._limits
        left_s = limits.max_minutes * 60 - state.elapsed_s(self._clock.now())
        taken = state.usage.tokens_in + state.usage.tokens_out
        request = ModelRequest(
            messages=messages,
            tools=tools,
            deadline_s=left_s,
            tokens_left=max(0, limits.max_tokens - taken),
        )
        watch = _Watch(
            self._run_log.log, self._clock, self._run_budget, state.more_cost_usd
        )
        # A call that is left behind is still settled when its answer comes.
        future = start_call(lambda: model.complete(request, watch))
        try:
            return self._cancel_token.wait_for(future)
        except RunCancelledError:
            watch.close()
            if (reply := _answer_within_grace(future)) is None:
                raise
            return reply
        finally:
            watch.close()
            # The next caller may have to wait until an abandoned call has ended.
            if watch.has_waited and future.done():
                running = ev.StateChanged(state=ev.AgentState.RUNNING)
                self._run_log.append(ev.Source.SYSTEM, running)


def _answer_within_grace(future: "Future[ev.ModelReply]") -> ev.ModelReply | None:
    """Wait a moment for an answer that is paid for, even if nobody acts on it."""
    try:
        return future.result(ANSWER_GRACE_S)
    except TimeoutError:
        return None


class _Watch:
    """Pays for each try of a call, and writes down until when a provider makes us wait.

    `more_usd` is what people have added to the run's ceiling.
    """

    def __init__(
        self, log: EventLog, clock: Clock, run_budget: Budget, more_usd: float
    ) -> None:
        self._log, self._clock = log, clock
        self._run_budget, self._more_usd = run_budget, more_usd
        self._lock = threading.Lock()
        self._is_closed = False
        self.has_waited = False

    def waits(self, wait: ev.ProviderWait) -> None:
        until = self._clock.now() + timedelta(seconds=wait.seconds)
        limited = ev.StateChanged(
            state=ev.AgentState.RATE_LIMITED,
            reason=wait.cause,
            until=until,
            wait=wait,
        )
        with self._lock:
            if self._is_closed:
                # Nobody waits any more; the call ends here instead of costing more.
                raise RunCancelledError
            self.has_waited = True
            self._log.append(ev.Source.SYSTEM, limited)

    def reserve(self, most: Usage) -> Settle:
        with self._lock:
            if self._is_closed:
                # Nobody waits for what one more try would bring.
                raise RunCancelledError
        return self._run_budget.reserve(most, self._more_usd)

    def close(self) -> None:
        """Write nothing more: a call left behind says nothing of the run's state."""
        with self._lock:
            self._is_closed = True


# Rare and deep: each condensation costs the provider's cache of all that follows.
GOAL: Final = 0.4
MAX_ROUNDS: Final = 4
GROWN: Final = 1.1


class ChatCondenser:
    """Condenses one agent's view, by events that every later reader follows."""

    def __init__(
        self,
        run_log: RunLog,
        dependencies: AgentDependencies,
        view: ChatView,
        asking: ModelCaller,
        agent: str,
    ) -> None:
        self._run_log, self._dependencies = run_log, dependencies
        self._view, self._asking = view, asking
        self._agent = agent
        self._tried_bytes = 0

    def is_due(self, model: Model) -> bool:
        """Tell whether the chat nears the model's window, and has grown since it did.

        What could not be shortened is not tried again at each step.
        """
        view = self._view
        if view.size_bytes < self._tried_bytes * GROWN:
            return False
        return needs_condensing(
            view.tokens_counted, view.bytes_since, model.capabilities()
        )

    def condense(self) -> bool:
        """Condense until it is enough or nothing helps; return whether it is shorter.

        Raises what asking the model raises.
        """
        before = self._view.size_bytes
        goal = round(before * GOAL)
        for number in range(MAX_ROUNDS):
            history = self._history(goal)
            # A second round must not take away what the first one has written.
            enough = max(goal, smallest_bytes_of(history)) if number else goal
            if history.size_bytes <= enough or not self._condense_once(history):
                break
        self._tried_bytes = self._view.size_bytes
        return self._tried_bytes < before

    def _history(self, goal_bytes: int) -> History:
        facts = self._run_log.facts.text(self._agent)
        return self._view.history(facts=facts, goal_bytes=goal_bytes)

    def _condense_once(self, history: History) -> bool:
        condensed = self._dependencies.condenser.condense(history, self._ask)
        if condensed is None:
            return False
        before = self._view.size_bytes
        after = before - history.size_bytes + size_after(history.turns, condensed)
        if after >= before:
            return False
        measured = condensed.replace(
            bytes_before=before, bytes_after=after, agent=self._agent
        )
        self._run_log.append(ev.Source.SYSTEM, measured)
        return True

    def _ask(self, system: str, text: str) -> ev.ModelReply:
        return self._asking.ask_as_role(
            "condense", self._dependencies.models.condense, system, text
        )
