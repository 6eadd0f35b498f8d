"""The loop: ask the model, do what it says, write everything down, know when to end."""

from typing import assert_never

from patchwright.core.agent.acting import Acting
from patchwright.core.agent.asking import Asking
from patchwright.core.agent.attention import Attention, CalledOffError
from patchwright.core.agent.calls import AFTER_THE_END, Calls
from patchwright.core.agent.chronicle import Chronicle
from patchwright.core.agent.condensing import Condensing
from patchwright.core.agent.delegating import Bounds, delegate_bounds, delegate_kit
from patchwright.core.agent.endings import (
    Ending,
    ending_of,
    paused,
    question,
)
from patchwright.core.agent.kit import AgentKit, let_finish
from patchwright.core.agent.limits import must_stop, out_of_tokens
from patchwright.core.agent.open_reply import OpenReply
from patchwright.core.agent.pen import Pen
from patchwright.core.agent.prompts import prompt
from patchwright.core.agent.results import Handover
from patchwright.core.agent.stuck import Loop, LoopFinder
from patchwright.core.agent.toolbox import Toolbox
from patchwright.core.agent.view import View
from patchwright.core.events.types import (
    AgentState,
    Delegate,
    DelegateResult,
    Event,
    Finish,
    LoopDetected,
    Message,
    Reject,
)
from patchwright.core.knowledge.library import NoLibrary
from patchwright.core.llm.budget import LimitError, TokenLimitError
from patchwright.core.llm.errors import ContextWindowError, ModelError
from patchwright.core.types.work import OutcomeKind

TEXT_ONLY_LIMIT = 3


class Controller:
    """Runs one agent until it ends or waits for a person.

    All that it knows is folded from the log: one that starts on the log of a lost
    worker goes on where that one was. `agent` is empty, or names a delegate. Raises
    `RuntimeLostError` and `LeaseLostError`; every other end is an `Ending`.
    """

    def __init__(
        self,
        chronicle: Chronicle,
        kit: AgentKit,
        *,
        agent: str = "",
        since_id: int = 1,
        bounds: Bounds | None = None,
    ) -> None:
        self._chronicle, self._kit = chronicle, kit
        self._agent, self._bounds = agent, bounds or Bounds()
        self._pen = Pen(chronicle, agent)
        self._model = kit.models.delegate if agent else kit.models.main
        self._toolbox = _toolbox(kit, agent, self._bounds.depth)
        self._view = _view(kit, agent)
        self._reply = OpenReply()
        self._loops = LoopFinder()
        self._handover = _handover(kit, agent)
        self._attention = attention = Attention(chronicle, kit.given_back)
        self._asking = Asking(
            chronicle,
            attention,
            limits=kit.limits,
            purse=kit.purse,
            clock=kit.clock,
            agent=agent,
        )
        self._calls = Calls(
            chronicle,
            kit,
            agent=agent,
            pen=self._pen,
            reply=self._reply,
            toolbox=self._toolbox,
            acting=Acting(chronicle, kit, attention),
            handover=self._handover,
            delegate=self._delegate,
        )
        self._condensing = Condensing(chronicle, kit, self._view, self._asking, agent)
        chronicle.follow(self._follow, since_id)

    def run(self) -> Ending:
        """Work as the run's own agent, through all its states."""
        self._chronicle.catch_up()
        self._wait_for_the_provider()
        if self._chronicle.state.state is not AgentState.AWAITING_USER_CONFIRMATION:
            self._pen.change(AgentState.RUNNING)
        ending = self._as_finished(self.take_steps())
        self._pen.change(ending.state, ending.reason)
        return ending

    def take_steps(self) -> Ending:
        """Take steps until one of them is the last."""
        while (ending := self._step()) is None:
            self._kit.after_step()
        return ending

    def _as_finished(self, ending: Ending) -> Ending:
        """Let a finish count that was held back, where the run ends before another."""
        held_back = self._handover.held_back
        if held_back is None or ending.kind not in _BROKEN_OFF:
            return ending
        return _ending_by(held_back)

    def close(self) -> None:
        self._chronicle.leave(self._follow)

    def _step(self) -> Ending | None:
        if (done := self._reply.finished) is not None:
            return self._end(_ending_by(done))
        try:
            self._attention.check()
            if held := self._held():
                return held
            if pending := self._reply.first():
                return self._calls.deal_with(pending)
            return self._settle_reply() or self._forbidden() or self._ask()
        except CalledOffError:
            return self._cancel()

    def _held(self) -> Ending | None:
        """Return what the run still waits for, where nobody has said anything."""
        match self._chronicle.state.held_as:
            case AgentState.PAUSED:
                return paused("")
            case AgentState.AWAITING_USER_INPUT:
                return question(self._reply.text)
            case _:
                return None

    def _settle_reply(self) -> Ending | None:
        """See to what a whole reply has led to: words alone, or a circle."""
        if self._loops.found is not None:
            return self._break_loop(self._loops.found)
        has_news = self._chronicle.spoken_id > self._chronicle.shown_id
        if self._reply.is_unanswered_text and not has_news:
            if self._loops.texts_in_a_row >= TEXT_ONLY_LIMIT:
                return question(self._reply.text)
            self._pen.note(Message(text=prompt("nobody_answers")))
        return None

    def _forbidden(self) -> Ending | None:
        state, limits = self._chronicle.state, self._kit.limits
        if stop := must_stop(state, limits, state.elapsed_s(self._kit.clock.now())):
            return ending_of(stop)
        return self._bounds.forbid(state)

    def _ask(self) -> Ending | None:
        """Make one model call, in a chat that fits its window."""
        try:
            if self._condensing.is_due(self._model):
                self._condensing.condense()
            self._asking.reply(self._model, self._view.messages(), self._toolbox.specs)
        except ContextWindowError as error:
            return self._make_room(error)
        except (LimitError, ModelError) as error:
            return self._failure(error)
        return None

    def _make_room(self, refused: ContextWindowError) -> Ending | None:
        """Condense, since the provider says it must be; what cannot be is the end."""
        try:
            if self._condensing.condense():
                return None
        except (LimitError, ModelError) as error:
            return self._failure(error)
        text = f"The conversation cannot be shortened any further. {refused}"
        return Ending(OutcomeKind.FAILED, refused.reason, text, by_service=True)

    def _failure(self, error: LimitError | ModelError) -> Ending | None:
        if self._attention.is_called_off:
            return None  # That is how it ends, and the next step sees to it.
        match error:
            case TokenLimitError():
                return ending_of(out_of_tokens(self._kit.limits))
            case LimitError():
                kind = OutcomeKind.OVER_BUDGET
            case ModelError():
                kind = OutcomeKind.FAILED
            case _:
                assert_never(error)
        return Ending(kind, error.reason, str(error), by_service=True)

    def _end(self, ending: Ending) -> Ending:
        """Give the calls that came after the last one their results too."""
        self._calls.refuse_the_rest(AFTER_THE_END)
        return ending

    def _cancel(self) -> Ending:
        """End or pause at once, as a person wants it."""
        state = self._chronicle.state
        if state.wanted is not None and state.wanted.state is AgentState.PAUSED:
            return paused(state.wanted.reason)
        self._calls.refuse_the_rest("Not run: a person stopped the run.")
        stop = must_stop(state, self._kit.limits, 0.0)
        return ending_of(stop) if stop else paused("")

    def _break_loop(self, loop: Loop) -> Ending | None:
        """Warn about a loop once; end the run at the second one."""
        if self._loops.was_warned:
            text = (
                f"`{loop.step}` was repeated {loop.times} times with the same result."
            )
            if loop.error:
                text = f"{text} It was: {loop.error}"
            return Ending(OutcomeKind.STUCK, "repeated-step", text, by_service=True)
        text = prompt("loop").format(times=loop.times, step=loop.step)
        # In this order, so that a crash in between does not swallow the warning.
        self._pen.note(Message(text=text))
        self._pen.note(LoopDetected(pattern=loop.step, text=text))
        return None

    def _delegate(self, action: Delegate, action_id: int) -> DelegateResult | Ending:
        """Have a delegate work in this thread; its waiting is ours."""
        done = self._chronicle.since(action_id)
        child = Controller(
            self._chronicle,
            delegate_kit(self._kit, action, done),
            agent=str(action_id),
            since_id=action_id,
            bounds=delegate_bounds(action, self._bounds, self._chronicle.state, done),
        )
        try:
            return child.run_delegate(action.task, action_id)
        finally:
            child.close()

    def run_delegate(self, task: str, action_id: int) -> DelegateResult | Ending:
        """Work as a delegate, and say how it went."""
        if self._view.size_bytes == 0:
            self._pen.note(Message(text=task), action_id)
        ending = self.take_steps()
        if ending.waits_as in (
            AgentState.PAUSED,
            AgentState.AWAITING_USER_CONFIRMATION,
        ):
            return ending
        done = self._chronicle.since(action_id)
        return DelegateResult(
            outcome=ending.kind,
            summary=ending.text,
            usage=done.usage,
            iterations=done.iterations,
        )

    def _wait_for_the_provider(self) -> None:
        try:
            self._asking.wait_out_rate_limit()
        except CalledOffError:
            return  # The first step sees it too.

    def _follow(self, event: Event) -> None:
        if event.payload.agent != self._agent:
            return
        self._view.add(event)
        self._reply.follow(event)
        self._loops.follow(event)
        self._handover.follow(event)


# What the agent had no say in.
_BROKEN_OFF = (
    OutcomeKind.OVER_BUDGET,
    OutcomeKind.OVER_LIMIT,
    OutcomeKind.TIMED_OUT,
    OutcomeKind.FAILED,
)


def _handover(kit: AgentKit, agent: str) -> Handover:
    """Return what looks at a finish; that of a delegate ends nothing but its part."""
    if agent:
        return Handover(None, let_finish)
    return Handover(kit.result_schema, kit.before_finish)


def _ending_by(action: Finish | Reject) -> Ending:
    if isinstance(action, Finish):
        return Ending(OutcomeKind.RESOLVED, "", action.summary, action)
    return Ending(OutcomeKind.REFUSED, "agent-declined", action.reason)


def _view(kit: AgentKit, agent: str) -> View:
    if agent:  # A delegate has a task of its own, without pictures.
        return View(kit.agent.delegate_system, agent)
    return View(kit.agent.system, images=kit.images.values())


def _toolbox(kit: AgentKit, agent: str, depth: int) -> Toolbox:
    recalls = not isinstance(kit.library, NoLibrary)
    return Toolbox(
        kit.agent.tools_at(depth, kit.max_delegate_depth, recalls=recalls),
        kit.mcp.tools(),
        asks_risk=kit.confirm != "never",
        result_schema=None if agent else kit.result_schema,
    )
