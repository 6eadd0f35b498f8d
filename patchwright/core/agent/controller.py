"""The loop: ask the model, do what it says, write everything down, know when to end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from patchwright.core.agent.limits import Stop, must_stop
from patchwright.core.agent.prompts import prompt
from patchwright.core.agent.purse import OverBudgetError, Purse
from patchwright.core.agent.stuck import LoopFinder
from patchwright.core.agent.tools import SPECS, read_call
from patchwright.core.agent.view import View
from patchwright.core.clock import Clock
from patchwright.core.events.log import EventLog
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import (
    Action,
    AgentState,
    ChangeState,
    ControlCommand,
    ErrorObservation,
    Event,
    Finish,
    LoopDetected,
    Message,
    ModelReply,
    Null,
    Observation,
    Reject,
    RunCommand,
    SandboxAction,
    Source,
    StateChanged,
    Think,
    ToolCall,
)
from patchwright.core.llm.errors import ModelError
from patchwright.core.llm.model import Model, ModelRequest
from patchwright.core.runtime import Runtime
from patchwright.core.types.work import Limits, OutcomeKind

TEXT_ONLY_LIMIT = 3

Hear = Callable[[Event], Message | ChangeState | None]


def hear_nobody(event: Event) -> None:
    """Let nobody steer the run."""


@dataclass(frozen=True)
class Ending:
    """Why the loop ended; `finish` is there when the agent said it was done."""

    kind: OutcomeKind
    reason: str
    text: str
    finish: Finish | None = None


class Controller:
    """Runs one attempt, from the event `start_id` on.

    What is already in the log from there, such as the task, is what the model sees
    first. `hear` judges what people say meanwhile: what it returns goes to the model
    or stops the run, in the system's name. Raises `RuntimeLostError` and
    `LeaseLostError`; every other end is an `Ending`.
    """

    def __init__(
        self,
        *,
        model: Model,
        runtime: Runtime,
        log: EventLog,
        limits: Limits,
        purse: Purse,
        clock: Clock,
        hear: Hear = hear_nobody,
        start_id: int = 1,
    ) -> None:
        self._model, self._runtime, self._log = model, runtime, log
        self._limits, self._purse, self._clock = limits, purse, clock
        self._hear = hear
        self._view = View(prompt("system"))
        self._view.last_id = start_id - 1
        self._state = RunState()
        self._loops = LoopFinder()
        self._nudged = False
        self._texts_in_a_row = 0
        self._started = clock.monotonic()

    @property
    def state(self) -> RunState:
        return self._state

    @property
    def read_up_to(self) -> int:
        """The id of the last event that the run took notice of."""
        return self._view.last_id

    def run(self) -> Ending:
        self._note(StateChanged(state=AgentState.RUNNING))
        while (ending := self._step()) is None:
            pass
        state = _STATE_AT_END.get(ending.kind, AgentState.ERROR)
        self._note(StateChanged(state=state, reason=ending.reason))
        return ending

    def _step(self) -> Ending | None:
        self._catch_up()
        elapsed_s = self._elapsed_s()
        if stop := must_stop(self._state, self._limits, elapsed_s):
            return _ending(stop)
        try:
            reply_id, reply = self._ask(self._limits.max_minutes * 60 - elapsed_s)
        except OverBudgetError as error:
            return Ending(OutcomeKind.OVER_BUDGET, error.reason, str(error))
        except ModelError as error:
            return Ending(OutcomeKind.FAILED, error.reason, str(error))
        if not reply.tool_calls:
            return self._answer_text(reply)
        self._texts_in_a_row = 0
        return self._carry_out(reply_id, reply)

    def _ask(self, deadline_s: float) -> tuple[int, ModelReply]:
        """Make one model call, paid for and written down whatever comes of it."""
        request = ModelRequest(
            messages=self._view.messages(), tools=SPECS, deadline_s=deadline_s
        )
        seen_id = self._view.last_id
        allowed_usd = self._purse.reserve(self._model.ceiling_usd(request))
        try:
            reply = self._model.complete(
                request.model_copy(update={"max_cost_usd": allowed_usd})
            )
        except ModelError as error:
            self._purse.settle(error.usage.cost_usd)
            failed = ModelReply(usage=error.usage, stop_reason=error.reason)
            self._log.append(Source.AGENT, failed, seen_id)
            self._catch_up()
            raise
        self._purse.settle(reply.usage.cost_usd)
        return self._log.append(Source.AGENT, reply, seen_id).id, reply

    def _answer_text(self, reply: ModelReply) -> Ending | None:
        self._texts_in_a_row += 1
        if self._texts_in_a_row >= TEXT_ONLY_LIMIT:
            return Ending(OutcomeKind.NEEDS_INPUT, "question", reply.text)
        self._note(Message(text=prompt("nobody_answers")))
        return None

    def _carry_out(self, reply_id: int, reply: ModelReply) -> Ending | None:
        """Give every call of the reply its one result, in order."""
        ending: Ending | None = None
        for call in reply.tool_calls:
            if ending is not None:
                self._refuse(reply_id, call, "Not run: the run had ended before it.")
                continue
            fault = reply.malformed.get(call.id)
            ending = self._carry_out_call(reply_id, call, fault)
        return ending

    def _carry_out_call(
        self, reply_id: int, call: ToolCall, fault: str | None
    ) -> Ending | None:
        if fault is not None:
            text = f"{call.name} was not run: its arguments are broken. {fault}"
            return self._watch(call, self._refuse(reply_id, call, text))
        action = read_call(call)
        if isinstance(action, ErrorObservation):
            return self._watch(call, self._refuse(reply_id, call, action.text))
        if stop := self._stop_asked():
            self._refuse(reply_id, call, "Not run: a person stopped the run.")
            return stop
        action_id = self._log.append(Source.AGENT, action, reply_id).id
        observation = self._do(action, action_id)
        self._log.append(Source.ENVIRONMENT, observation, action_id)
        if isinstance(action, Finish):
            return Ending(OutcomeKind.RESOLVED, "", action.summary, action)
        if isinstance(action, Reject):
            return Ending(OutcomeKind.REFUSED, "agent-declined", action.reason)
        return self._watch(action, observation)

    def _do(self, action: Action, action_id: int) -> Observation:
        if isinstance(action, SandboxAction):
            observation = self._runtime.run(self._in_time(action), str(action_id))
            return observation.model_copy(update={"call_id": action.call_id})
        match action:
            case Think() | Message() | Finish() | Reject() | ChangeState():
                return Null(call_id=action.call_id)
            case _:
                assert_never(action)

    def _in_time(self, action: SandboxAction) -> SandboxAction:
        """Let no command be waited for beyond the end of the run."""
        if not isinstance(action, RunCommand | ControlCommand):
            return action
        if action.timeout_s is None:
            return action
        left_s = max(self._limits.max_minutes * 60 - self._elapsed_s(), 1.0)
        return action.model_copy(update={"timeout_s": min(action.timeout_s, left_s)})

    def _elapsed_s(self) -> float:
        return self._clock.monotonic() - self._started

    def _refuse(self, reply_id: int, call: ToolCall, text: str) -> ErrorObservation:
        error = ErrorObservation(reason="not-run", text=text, call_id=call.id)
        self._log.append(Source.ENVIRONMENT, error, reply_id)
        return error

    def _watch(
        self, step: Action | ToolCall, observation: Observation
    ) -> Ending | None:
        """Warn about a loop once; end the run at the second one."""
        loop = self._loops.add(step, observation)
        if loop is None:
            return None
        if self._nudged:
            text = (
                f"`{loop.step}` was repeated {loop.times} times with the same result."
            )
            if isinstance(observation, ErrorObservation):
                text = f"{text} It was: {observation.text}"
            return Ending(OutcomeKind.STUCK, "repeated-step", text)
        self._nudged = True
        self._loops.reset()
        text = prompt("loop").format(times=loop.times, step=loop.step)
        self._note(LoopDetected(pattern=loop.step, text=text))
        self._note(Message(text=text))
        return None

    def _stop_asked(self) -> Ending | None:
        self._catch_up()
        if self._state.wanted is not AgentState.STOPPED:
            return None
        stop = must_stop(self._state, self._limits, self._elapsed_s())
        return _ending(stop) if stop else None

    def _catch_up(self) -> None:
        while events := self._log.read(self._view.last_id + 1):
            self._view.extend(events)
            for event in events:
                self._state = fold(self._state, event)
                self._listen(event)

    def _listen(self, event: Event) -> None:
        if event.source is not Source.USER or not isinstance(event.payload, Message):
            return
        heard = self._hear(event)
        if heard is not None:
            self._log.append(Source.SYSTEM, heard, event.id)

    def _note(self, payload: StateChanged | Message | LoopDetected) -> None:
        self._log.append(Source.SYSTEM, payload)


_STATE_AT_END = {
    OutcomeKind.RESOLVED: AgentState.FINISHED,
    OutcomeKind.REFUSED: AgentState.REJECTED,
    OutcomeKind.NEEDS_INPUT: AgentState.AWAITING_USER_INPUT,
    OutcomeKind.STOPPED: AgentState.STOPPED,
}


def _ending(stop: Stop) -> Ending:
    return Ending(stop.kind, stop.reason, stop.text)
