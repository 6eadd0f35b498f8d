"""Give each tool call of a reply its one result."""

from collections.abc import Callable
from typing import Final, assert_never

from patchwright.core.agent.acting import ActionExecutor
from patchwright.core.agent.chronicle import RunLog
from patchwright.core.agent.confirming import ActionAllowed, ActionRefused, ActionWaits, judge_action
from patchwright.core.agent.endings import (
    AgentEnding,
    confirmation_ending,
    plan_dropped_ending,
    plan_posted_ending,
)
from patchwright.core.agent.kit import AgentDependencies
from patchwright.core.agent.limits import find_reached_limit
from patchwright.core.agent.open_reply import OpenReply, PendingCall
from patchwright.core.agent.pen import EventWriter
from patchwright.core.agent.planning import (
    ApprovedPlan,
    DroppedPlan,
    ProposedPlan,
    RevisedPlan,
    judge_plan,
)
from patchwright.core.agent.results import FinishCheck
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

SKIPPED_AFTER_END: Final = "Not run: the run had ended before it."


class ToolCallExecutor:
    """Deals with the calls of one agent's newest reply.

    `agent` is empty, or names a delegate: those bring no plans. `delegate` has another
    agent do a part of the work; it may end in a wait of the run.
    """

    def __init__(
        self,
        run_log: RunLog,
        dependencies: AgentDependencies,
        *,
        agent: str,
        event_writer: EventWriter,
        reply: OpenReply,
        toolbox: Toolbox,
        action_executor: ActionExecutor,
        finish_check: FinishCheck,
        delegate: Callable[[Delegate, int], DelegateResult | AgentEnding],
    ) -> None:
        self._run_log, self._dependencies = run_log, dependencies
        self._agent, self._event_writer, self._reply = agent, event_writer, reply
        self._toolbox, self._action_executor = toolbox, action_executor
        self._finish_check = finish_check
        self._delegate = delegate

    def execute_call(self, pending: PendingCall) -> AgentEnding | None:
        """Give a call its one result, whichever worker has begun with it."""
        call = pending.call
        if self._reply.has_ended:
            self._conclude(pending, _not_run(SKIPPED_AFTER_END))
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
        is_planning = self._run_log.state.is_planning and not self._agent
        if isinstance(action, Finish) and is_planning:
            return self._propose(pending, action)
        if isinstance(action, Finish):
            return self._hand_over(pending, proposal, action)
        return self._consider(pending, proposal)

    def _hand_over(
        self, pending: PendingCall, proposal: Proposal, finish: Finish
    ) -> AgentEnding | None:
        state, limits = self._run_log.state, self._dependencies.limits
        elapsed_s = state.elapsed_s(self._dependencies.clock.now())
        stops = find_reached_limit(state, limits, elapsed_s)
        judged = self._finish_check.judge(finish, is_last_word=stops is not None)
        if isinstance(judged, ErrorObservation):
            self._conclude(pending, judged)
            return None
        whole = proposal.replace(action=judged)
        return self._consider(pending, whole)

    def _propose(self, pending: PendingCall, finish: Finish) -> AgentEnding | None:
        """Show a plan to people, or do what they have said about it."""
        run_log = self._run_log
        verdict = judge_plan(finish, pending, run_log.state, run_log.last_message_id)
        match verdict:
            case ApprovedPlan(by=by):
                self._event_writer.change(AgentState.USER_CONFIRMED, by)
                self._event_writer.change(AgentState.RUNNING)
                self._conclude(pending, verdict.result)
            case RevisedPlan():
                self._event_writer.change(AgentState.USER_REJECTED)
                self._event_writer.change(AgentState.RUNNING)
                self._conclude(pending, verdict.result)
            case DroppedPlan(by=by):
                self._event_writer.change(AgentState.USER_REJECTED, by)
                self.refuse_remaining(SKIPPED_AFTER_END)
                return plan_dropped_ending(by)
            case ProposedPlan(asked=asked, text=text):
                if pending.asked is None:
                    self._event_writer.write(Source.SYSTEM, asked, self._reply.id)
                return plan_posted_ending(text)
            case _:
                assert_never(verdict)
        self.refuse_remaining(SKIPPED_AFTER_END)
        return None

    def _consider(self, pending: PendingCall, proposal: Proposal) -> AgentEnding | None:
        """Send an action off, unless a person is to allow it and has not."""
        run_log = self._run_log
        verdict = judge_action(
            proposal,
            pending,
            run_log.state,
            analyzer=self._dependencies.analyzer,
            policy=self._dependencies.confirm,
            last_message_id=run_log.last_message_id,
        )
        match verdict:
            case ActionAllowed(action=action, by=by):
                if by:
                    self._event_writer.change(AgentState.USER_CONFIRMED, by)
                    self._event_writer.change(AgentState.RUNNING)
                sent = self._event_writer.write(Source.AGENT, action, self._reply.id)
                return self._carry_out(pending, action, sent.id)
            case ActionRefused(text=text, by=by):
                self._event_writer.change(AgentState.USER_REJECTED, by)
                self._event_writer.change(AgentState.RUNNING)
                self._conclude(pending, UserRejected(text=text))
                return None
            case ActionWaits(asked=asked, text=text):
                if pending.asked is None:
                    self._event_writer.write(Source.SYSTEM, asked, self._reply.id)
                return confirmation_ending(text)
            case _:
                assert_never(verdict)

    def _carry_out(
        self, pending: PendingCall, action: AgentStep, action_id: int
    ) -> AgentEnding | None:
        observation: Observation
        if isinstance(action, Delegate):
            result = self._delegate(action, action_id)
            if isinstance(result, AgentEnding):
                return result
            observation = result
        elif pending.action_id is not None:
            observation = self._action_executor.resume(action, action_id)
        else:
            observation = self._action_executor.perform(action, action_id)
        self._conclude(pending, observation, action_id)
        return None

    def _conclude(
        self, pending: PendingCall, observation: Observation, cause: int | None = None
    ) -> None:
        """Write down a call's one result."""
        result = observation.replace(call_id=pending.call.id)
        self._event_writer.write(Source.ENVIRONMENT, result, cause or self._reply.id)

    def refuse_remaining(self, why: str) -> None:
        while pending := self._reply.first():
            self._conclude(pending, _not_run(why))


def _not_run(text: str) -> ErrorObservation:
    return ErrorObservation(reason="not-run", text=text)
