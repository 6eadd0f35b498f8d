"""Give each tool call of a reply its one result."""

from collections.abc import Callable
from typing import Final, assert_never

from patchwright.core.agent.acting import Acting
from patchwright.core.agent.chronicle import Chronicle
from patchwright.core.agent.confirming import Allowed, Refused, Waits, judge
from patchwright.core.agent.endings import (
    Ending,
    confirmation,
    plan_dropped,
    plan_posted,
)
from patchwright.core.agent.kit import AgentKit
from patchwright.core.agent.limits import must_stop
from patchwright.core.agent.open_reply import OpenReply, Pending
from patchwright.core.agent.pen import Pen
from patchwright.core.agent.planning import (
    Approved,
    Dropped,
    Proposed,
    Revised,
    judge_plan,
)
from patchwright.core.agent.results import Handover
from patchwright.core.agent.toolbox import Proposal, Toolbox
from patchwright.core.events.types import (
    AgentState,
    AgentStep,
    Delegate,
    DelegateResult,
    ErrorObservation,
    Finish,
    Observation,
    Source,
    UserRejected,
)

AFTER_THE_END: Final = "Not run: the run had ended before it."


class Calls:
    """Deals with the calls of one agent's newest reply.

    `agent` is empty, or names a delegate: those bring no plans. `delegate` has another
    agent do a part of the work; it may end in a wait of the run.
    """

    def __init__(
        self,
        chronicle: Chronicle,
        kit: AgentKit,
        *,
        agent: str,
        pen: Pen,
        reply: OpenReply,
        toolbox: Toolbox,
        acting: Acting,
        handover: Handover,
        delegate: Callable[[Delegate, int], DelegateResult | Ending],
    ) -> None:
        self._chronicle, self._kit = chronicle, kit
        self._agent, self._pen, self._reply = agent, pen, reply
        self._toolbox, self._acting = toolbox, acting
        self._handover = handover
        self._delegate = delegate

    def deal_with(self, pending: Pending) -> Ending | None:
        """Give a call its one result, whichever worker has begun with it."""
        call = pending.call
        if self._reply.has_ended:
            self._conclude(pending, _not_run(AFTER_THE_END))
            return None
        if pending.fault is not None:
            text = f"{call.name} was not run: its arguments are broken. {pending.fault}"
            self._conclude(pending, _not_run(text))
            return None
        if pending.action is not None and pending.action_id is not None:
            return self._carry_out(pending, pending.action, pending.action_id)
        proposal = self._toolbox.read(call)
        if isinstance(proposal, ErrorObservation):
            self._conclude(pending, proposal)
            return None
        action = proposal.action
        is_planning = self._chronicle.state.is_planning and not self._agent
        if isinstance(action, Finish) and is_planning:
            return self._propose(pending, action)
        if isinstance(action, Finish):
            return self._hand_over(pending, proposal, action)
        return self._consider(pending, proposal)

    def _hand_over(
        self, pending: Pending, proposal: Proposal, finish: Finish
    ) -> Ending | None:
        state, limits = self._chronicle.state, self._kit.limits
        elapsed_s = state.elapsed_s(self._kit.clock.now())
        stops = must_stop(state, limits, elapsed_s)
        judged = self._handover.judge(finish, is_last_word=stops is not None)
        if isinstance(judged, ErrorObservation):
            self._conclude(pending, judged)
            return None
        whole = proposal.replace(action=judged)
        return self._consider(pending, whole)

    def _propose(self, pending: Pending, finish: Finish) -> Ending | None:
        """Show a plan to people, or do what they have said about it."""
        chronicle = self._chronicle
        verdict = judge_plan(finish, pending, chronicle.state, chronicle.spoken_id)
        match verdict:
            case Approved(by=by):
                self._pen.change(AgentState.USER_CONFIRMED, by)
                self._pen.change(AgentState.RUNNING)
                self._conclude(pending, verdict.result)
            case Revised():
                self._pen.change(AgentState.USER_REJECTED)
                self._pen.change(AgentState.RUNNING)
                self._conclude(pending, verdict.result)
            case Dropped(by=by):
                self._pen.change(AgentState.USER_REJECTED, by)
                self.refuse_the_rest(AFTER_THE_END)
                return plan_dropped(by)
            case Proposed(asked=asked, text=text):
                if pending.asked is None:
                    self._pen.write(Source.SYSTEM, asked, self._reply.id)
                return plan_posted(text)
            case _:
                assert_never(verdict)
        self.refuse_the_rest(AFTER_THE_END)
        return None

    def _consider(self, pending: Pending, proposal: Proposal) -> Ending | None:
        """Send an action off, unless a person is to allow it and has not."""
        chronicle = self._chronicle
        verdict = judge(
            proposal,
            pending,
            chronicle.state,
            analyzer=self._kit.analyzer,
            policy=self._kit.confirm,
            spoken_id=chronicle.spoken_id,
        )
        match verdict:
            case Allowed(action=action, by=by):
                if by:
                    self._pen.change(AgentState.USER_CONFIRMED, by)
                    self._pen.change(AgentState.RUNNING)
                sent = self._pen.write(Source.AGENT, action, self._reply.id)
                return self._carry_out(pending, action, sent.id)
            case Refused(text=text, by=by):
                self._pen.change(AgentState.USER_REJECTED, by)
                self._pen.change(AgentState.RUNNING)
                self._conclude(pending, UserRejected(text=text))
                return None
            case Waits(asked=asked, text=text):
                if pending.asked is None:
                    self._pen.write(Source.SYSTEM, asked, self._reply.id)
                return confirmation(text)
            case _:
                assert_never(verdict)

    def _carry_out(
        self, pending: Pending, action: AgentStep, action_id: int
    ) -> Ending | None:
        observation: Observation
        if isinstance(action, Delegate):
            result = self._delegate(action, action_id)
            if isinstance(result, Ending):
                return result
            observation = result
        elif pending.action_id is not None:
            observation = self._acting.resume(action, action_id)
        else:
            observation = self._acting.perform(action, action_id)
        self._conclude(pending, observation, action_id)
        return None

    def _conclude(
        self, pending: Pending, observation: Observation, cause: int | None = None
    ) -> None:
        """Write down a call's one result."""
        result = observation.replace(call_id=pending.call.id)
        self._pen.write(Source.ENVIRONMENT, result, cause or self._reply.id)

    def refuse_the_rest(self, why: str) -> None:
        while pending := self._reply.first():
            self._conclude(pending, _not_run(why))


def _not_run(text: str) -> ErrorObservation:
    return ErrorObservation(reason="not-run", text=text)
