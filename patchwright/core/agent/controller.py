"""The loop: ask the model, do what it says, write everything down, know when to end."""

from typing import assert_never

from patchwright.core.agent.agents import (
    AgentDependencies,
    DelegateBounds,
    allow_finish,
    delegate_bounds,
    delegate_dependencies,
)
from patchwright.core.agent.approval import OpenReply
from patchwright.core.agent.endings import (
    AgentEnding,
    find_reached_limit,
    limit_ending,
    paused_ending,
    question_ending,
    token_limit_reached,
)
from patchwright.core.agent.execution import (
    SKIPPED_AFTER_END,
    SKIPPED_AFTER_QUESTION,
    ActionExecutor,
    ToolCallExecutor,
)
from patchwright.core.agent.loop_finder import LoopFinder, RepeatedSteps
from patchwright.core.agent.model_calls import ChatCondenser, ModelCaller
from patchwright.core.agent.prompts import prompt
from patchwright.core.agent.results import FinishCheck
from patchwright.core.agent.run_log import (
    CancelToken,
    EventWriter,
    RunCancelledError,
    RunLog,
)
from patchwright.core.agent.tools import Toolbox
from patchwright.core.agent.view import ChatView
from patchwright.core.events.actions import Delegate, Finish, Message, Reject
from patchwright.core.events.observations import DelegateResult, LoopDetected
from patchwright.core.events.payload import AgentState
from patchwright.core.events.types import Event
from patchwright.core.knowledge.search import NoKnowledgeLibrary
from patchwright.core.llm.errors import (
    ContextWindowError,
    LimitError,
    ModelError,
    TokenLimitError,
)
from patchwright.core.types.outcome_kind import OutcomeKind

TEXT_ONLY_LIMIT = 3


class Controller:
    """Runs one agent until it ends or waits for a person.

    All that it knows is folded from the log: one that starts on the log of a lost
    worker goes on where that one was. `agent` is empty, or names a delegate. Raises
    `RuntimeLostError` and `LeaseLostError`; every other end is an `Ending`.
    """

    def __init__(
        self,
        run_log: RunLog,
        dependencies: AgentDependencies,
        *,
        agent: str = "",
        since_id: int = 1,
        bounds: DelegateBounds | None = None,
    ) -> None:
        self._run_log, self._dependencies = run_log, dependencies
        self._agent, self._bounds = agent, bounds or DelegateBounds()
        self._event_writer = EventWriter(run_log, agent)
        models = dependencies.models
        self._model = models.delegate if agent else models.main
        self._toolbox = _toolbox(dependencies, agent, self._bounds.depth)
        self._view = _view(dependencies, agent)
        self._reply = OpenReply()
        self._loops = LoopFinder()
        self._finish_check = _finish_check(dependencies, agent)
        cancel_token = CancelToken(run_log, dependencies.release_signal)
        self._cancel_token = cancel_token
        self._model_caller = _model_caller(run_log, dependencies, cancel_token, agent)
        self._calls = ToolCallExecutor(
            run_log,
            dependencies,
            agent=agent,
            event_writer=self._event_writer,
            reply=self._reply,
            toolbox=self._toolbox,
            action_executor=ActionExecutor(run_log, dependencies, cancel_token),
            finish_check=self._finish_check,
            delegate=self._delegate,
        )
        self._chat_condenser = ChatCondenser(
            run_log, dependencies, self._view, self._model_caller, agent
        )
        run_log.follow(self._follow, since_id)

    def run(self) -> AgentEnding:
        """Work as the run's own agent, through all its states."""
        self._run_log.catch_up()
        self._wait_for_the_provider()
        if self._run_log.state.state is not AgentState.AWAITING_USER_CONFIRMATION:
            self._event_writer.change(AgentState.RUNNING)
        ending = self._as_finished(self.take_steps())
        self._event_writer.change(ending.state, ending.reason)
        return ending

    def take_steps(self) -> AgentEnding:
        """Take steps until one of them is the last."""
        while (ending := self._step()) is None:
            self._dependencies.after_step()
        return ending

    def _as_finished(self, ending: AgentEnding) -> AgentEnding:
        """Let a finish count that was held back, where the run ends before another."""
        held_back = self._finish_check.held_back
        if held_back is None or ending.kind not in _BROKEN_OFF:
            return ending
        return _ending_by(held_back)

    def close(self) -> None:
        self._run_log.leave(self._follow)

    def _step(self) -> AgentEnding | None:
        if (done := self._reply.finished) is not None:
            return self._end(_ending_by(done))
        try:
            self._cancel_token.check()
            if held := self._held():
                return held
            if self._reply.asked is not None:
                return self._wait_for_answer()
            if pending := self._reply.first():
                return self._calls.execute_call(pending)
            return self._settle_reply() or self._forbidden() or self._ask()
        except RunCancelledError:
            return self._cancel()

    def _held(self) -> AgentEnding | None:
        """Return what the run still waits for, where nobody has said anything."""
        held_as = self._run_log.state.held_as
        match held_as:
            case AgentState.PAUSED:
                return paused_ending("")
            case AgentState.AWAITING_USER_INPUT:
                return question_ending(self._reply.question)
            case AgentState.AWAITING_USER_CONFIRMATION | None:
                return None
            case _:
                assert_never(held_as)

    def _wait_for_answer(self) -> AgentEnding:
        """Wait with the question; what was to come after it is for the next reply."""
        self._calls.refuse_remaining(SKIPPED_AFTER_QUESTION)
        return question_ending(self._reply.question)

    def _settle_reply(self) -> AgentEnding | None:
        """See to what a whole reply has led to: words alone, or a circle."""
        if self._loops.found is not None:
            return self._break_loop(self._loops.found)
        has_news = self._run_log.last_message_id > self._run_log.last_seen_id
        if self._reply.is_unanswered_text and not has_news:
            if self._loops.texts_in_a_row >= TEXT_ONLY_LIMIT:
                return question_ending(self._reply.text)
            self._event_writer.note(Message(text=prompt("nobody_answers")))
        return None

    def _forbidden(self) -> AgentEnding | None:
        state, limits = self._run_log.state, self._dependencies.limits
        if stop := find_reached_limit(
            state, limits, state.elapsed_s(self._dependencies.clock.now())
        ):
            return limit_ending(stop)
        return self._bounds.forbid(state)

    def _ask(self) -> AgentEnding | None:
        """Make one model call, in a chat that fits its window."""
        try:
            if self._chat_condenser.is_due(self._model):
                self._chat_condenser.condense()
            self._model_caller.reply(
                self._model, self._view.messages(), self._toolbox.specs
            )
        except ContextWindowError as error:
            return self._make_room(error)
        except (LimitError, ModelError) as error:
            return self._failure(error)
        return None

    def _make_room(self, refused: ContextWindowError) -> AgentEnding | None:
        """Condense, since the provider says it must be; what cannot be is the end."""
        try:
            if self._chat_condenser.condense():
                return None
        except (LimitError, ModelError) as error:
            return self._failure(error)
        text = f"The conversation cannot be shortened any further. {refused}"
        return AgentEnding(OutcomeKind.FAILED, refused.reason, text, by_service=True)

    def _failure(self, error: LimitError | ModelError) -> AgentEnding | None:
        if self._cancel_token.is_cancelled:
            return None  # This ends the run; the next step handles it.
        match error:
            case TokenLimitError():
                return limit_ending(token_limit_reached(self._dependencies.limits))
            case LimitError():
                kind = OutcomeKind.OVER_BUDGET
            case ModelError():
                kind = OutcomeKind.FAILED
            case _:
                assert_never(error)
        return AgentEnding(kind, error.reason, str(error), by_service=True)

    def _end(self, ending: AgentEnding) -> AgentEnding:
        """Give the calls that came after the last one their results too."""
        self._calls.refuse_remaining(SKIPPED_AFTER_END)
        return ending

    def _cancel(self) -> AgentEnding:
        """End or pause at once, as a person wants it."""
        state = self._run_log.state
        if state.wanted is not None and state.wanted.state is AgentState.PAUSED:
            return paused_ending(state.wanted.reason)
        self._calls.refuse_remaining("Not run: a person stopped the run.")
        stop = find_reached_limit(state, self._dependencies.limits, 0.0)
        return limit_ending(stop) if stop else paused_ending("")

    def _break_loop(self, loop: RepeatedSteps) -> AgentEnding | None:
        """Warn about a loop once; end the run at the second one."""
        if self._loops.was_warned:
            text = (
                f"`{loop.step}` was repeated {loop.times} times with the same result."
            )
            if loop.error:
                text = f"{text} It was: {loop.error}"
            return AgentEnding(
                OutcomeKind.STUCK, "repeated-step", text, by_service=True
            )
        text = prompt("loop").format(times=loop.times, step=loop.step)
        # In this order, so that a crash in between does not swallow the warning.
        self._event_writer.note(Message(text=text))
        self._event_writer.note(LoopDetected(pattern=loop.step, text=text))
        return None

    def _delegate(
        self, action: Delegate, action_id: int
    ) -> DelegateResult | AgentEnding:
        """Have a delegate work in this thread; its waiting is ours."""
        done = self._run_log.since(action_id)
        child = Controller(
            self._run_log,
            delegate_dependencies(self._dependencies, action, done),
            agent=str(action_id),
            since_id=action_id,
            bounds=delegate_bounds(action, self._bounds, self._run_log.state, done),
        )
        try:
            return child.run_delegate(action.task, action_id)
        finally:
            child.close()

    def run_delegate(self, task: str, action_id: int) -> DelegateResult | AgentEnding:
        """Work as a delegate, and say how it went."""
        if self._view.size_bytes == 0:
            self._event_writer.note(Message(text=task), action_id)
        ending = self.take_steps()
        if ending.waits_as in (
            AgentState.PAUSED,
            AgentState.AWAITING_USER_CONFIRMATION,
        ):
            return ending
        done = self._run_log.since(action_id)
        return DelegateResult(
            outcome=ending.kind,
            summary=ending.text,
            usage=done.usage,
            iterations=done.iterations,
        )

    def _wait_for_the_provider(self) -> None:
        try:
            self._model_caller.wait_out_rate_limit()
        except RunCancelledError:
            return  # The first step sees it too.

    def _follow(self, event: Event) -> None:
        if event.payload.agent != self._agent:
            return
        self._view.add(event)
        self._reply.follow(event)
        self._loops.follow(event)
        self._finish_check.follow(event)


# After these nobody decided that an earlier finish does not hold.
_BROKEN_OFF = (
    OutcomeKind.STUCK,
    OutcomeKind.OVER_BUDGET,
    OutcomeKind.OVER_LIMIT,
    OutcomeKind.TIMED_OUT,
    OutcomeKind.FAILED,
)


def _finish_check(dependencies: AgentDependencies, agent: str) -> FinishCheck:
    """Return what looks at a finish; the end of a delegate ends only its part."""
    if agent:
        return FinishCheck(None, allow_finish)
    return FinishCheck(dependencies.result_schema, dependencies.review_finish)


def _ending_by(action: Finish | Reject) -> AgentEnding:
    if isinstance(action, Finish):
        return AgentEnding(OutcomeKind.RESOLVED, "", action.summary, action)
    return AgentEnding(OutcomeKind.REFUSED, "agent-declined", action.reason)


def _view(dependencies: AgentDependencies, agent: str) -> ChatView:
    if agent:  # A delegate has a task of its own, without pictures.
        return ChatView(dependencies.agent.delegate_system, agent)
    return ChatView(dependencies.agent.system, images=dependencies.images.values())


def _model_caller(
    run_log: RunLog,
    dependencies: AgentDependencies,
    cancel_token: CancelToken,
    agent: str,
) -> ModelCaller:
    return ModelCaller(
        run_log,
        cancel_token,
        limits=dependencies.limits,
        run_budget=dependencies.run_budget,
        clock=dependencies.clock,
        agent=agent,
    )


def _toolbox(dependencies: AgentDependencies, agent: str, depth: int) -> Toolbox:
    recalls = not isinstance(dependencies.library, NoKnowledgeLibrary)
    return Toolbox(
        dependencies.agent.tools_at(
            depth, dependencies.max_delegate_depth, recalls=recalls
        ),
        dependencies.mcp.tools(),
        asks_risk=dependencies.confirm != "never",
        result_schema=None if agent else dependencies.result_schema,
    )
