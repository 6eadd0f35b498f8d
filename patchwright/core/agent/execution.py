"""The execution of an agent's tool calls: each gets one result."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, assert_never

from patchwright.core.agent.agents import AgentDependencies
from patchwright.core.agent.approval import (
    ActionAllowed,
    ActionRefused,
    ActionWaits,
    ApprovedPlan,
    DroppedPlan,
    OpenReply,
    PendingCall,
    ProposedPlan,
    RevisedPlan,
    judge_action,
    judge_plan,
)
from patchwright.core.agent.endings import (
    AgentEnding,
    confirmation_ending,
    find_reached_limit,
    plan_dropped_ending,
    plan_posted_ending,
)
from patchwright.core.agent.results import FinishCheck
from patchwright.core.agent.run_log import (
    CancelToken,
    EventWriter,
    RunCancelledError,
    RunLog,
)
from patchwright.core.agent.tools import Proposal, Toolbox
from patchwright.core.events import types as ev
from patchwright.core.system.clock import start_call

UNKNOWN_RESULT: Final = (
    "The result of this action is unknown: the worker and the sandbox were lost while "
    "it ran. It was not run again. Check the state of the repository before you do."
)


def mark_unknown(run_log: RunLog, since_id: int) -> None:
    """Give the actions that were sent off, by whichever agent, their results.

    To be called before another sandbox is started: what is sent off after that went
    to the new one, so that no worker, lost or not, can take the one for the other.
    """
    agents: dict[str, OpenReply] = {}

    def follow(event: ev.Event) -> None:
        agents.setdefault(event.payload.agent, OpenReply()).follow(event)

    run_log.catch_up()
    run_log.follow(follow, since_id)
    run_log.leave(follow)
    for agent, reply in agents.items():
        pending = reply.first()
        if pending is not None and isinstance(pending.action, ev.SandboxAction):
            _conclude(run_log, agent, pending)


def _conclude(run_log: RunLog, agent: str, pending: PendingCall) -> None:
    unknown = ev.ErrorObservation(
        reason="unknown", text=UNKNOWN_RESULT, call_id=pending.call.id, agent=agent
    )
    run_log.append(ev.Source.ENVIRONMENT, unknown, pending.action_id)


# What a cancelled action gets to hand over what it has printed so far.
CANCEL_GRACE_S: Final = 0.7

_CANCELLED_TEXT: Final = "Ended before its time: a person wanted the run to stop."


class ActionExecutor:
    """Carries out actions of one agent, all but delegation.

    Raises `RuntimeLostError`, and `LeaseLostError` when the job was released.
    """

    def __init__(
        self,
        run_log: RunLog,
        dependencies: AgentDependencies,
        cancel_token: CancelToken,
    ) -> None:
        self._run_log, self._dependencies = run_log, dependencies
        self._cancel_token = cancel_token

    def perform(self, action: ev.AgentStep, action_id: int) -> ev.Observation:
        if isinstance(action, ev.SandboxAction):
            return _result_of(action, self._run(action, action_id))
        if isinstance(action, ev.CallMcpTool):
            return _result_of(action, self._call_tool(action))
        if isinstance(action, ev.Recall):
            return _result_of(action, self._dependencies.library.recall(action.query))
        return _result_of(action, ev.Null())

    def resume(self, action: ev.AgentStep, action_id: int) -> ev.Observation:
        """Get the result of an action that an earlier worker sent.

        In a sandbox the same id is the same action. If the sandbox is lost, the result
        was already set (see `mark_unknown`). An MCP server cannot repeat a result.
        """
        if isinstance(action, ev.CallMcpTool):
            unknown = ev.ErrorObservation(reason="unknown", text=UNKNOWN_RESULT)
            return _result_of(action, unknown)
        return self.perform(action, action_id)

    def _run(self, action: ev.SandboxAction, action_id: int) -> ev.Observation:
        runtime, timed = self._dependencies.runtime, self._in_time(action)
        future = start_call(lambda: runtime.run(timed, str(action_id)))
        try:
            return self._cancel_token.wait_for(future)
        except RunCancelledError:
            return self._cancel(future, str(action_id))

    def _cancel(
        self, future: "Future[ev.SandboxObservation]", action_id: str
    ) -> ev.Observation:
        """End an action, and return what it has printed if it says so soon."""
        self._dependencies.runtime.cancel(action_id)
        try:
            return future.result(CANCEL_GRACE_S)
        except TimeoutError:
            # Perhaps the word to end it has overtaken the action itself.
            self._dependencies.runtime.cancel(action_id)
            return ev.ErrorObservation(reason="called-off", text=_CANCELLED_TEXT)

    def _call_tool(self, action: ev.CallMcpTool) -> ev.Observation:
        mcp = self._dependencies.mcp
        try:
            return self._cancel_token.wait_for(start_call(lambda: mcp.call(action)))
        except RunCancelledError:
            return ev.ErrorObservation(reason="called-off", text=_CANCELLED_TEXT)

    def _in_time(self, action: ev.SandboxAction) -> ev.SandboxAction:
        """Let no command be waited for beyond the end of the run."""
        if not isinstance(action, ev.RunCommand | ev.ControlCommand | ev.RunIpython):
            return action
        if action.timeout_s is None:
            return action
        elapsed_s = self._run_log.state.elapsed_s(self._dependencies.clock.now())
        left_s = max(self._dependencies.limits.max_minutes * 60 - elapsed_s, 1.0)
        return action.replace(timeout_s=min(action.timeout_s, left_s))


def _result_of(action: ev.AgentStep, observation: ev.Observation) -> ev.Observation:
    return observation.replace(call_id=action.call_id, agent=action.agent)


SKIPPED_AFTER_END: Final = "Not run: the run had ended before it."
SKIPPED_AFTER_QUESTION: Final = "Not run: the question before it was to be answered."


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
        delegate: Callable[[ev.Delegate, int], ev.DelegateResult | AgentEnding],
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
        if isinstance(proposal, ev.ErrorObservation):
            self._conclude(pending, proposal)
            return None
        action = proposal.action
        is_planning = self._run_log.state.is_planning and not self._agent
        if isinstance(action, ev.Finish) and is_planning:
            return self._propose(pending, action)
        if isinstance(action, ev.Finish):
            return self._hand_over(pending, proposal, action)
        return self._consider(pending, proposal)

    def _hand_over(
        self, pending: PendingCall, proposal: Proposal, finish: ev.Finish
    ) -> AgentEnding | None:
        judged = self._finish_check.judge(finish, self._is_at_limit)
        if isinstance(judged, ev.ErrorObservation):
            self._conclude(pending, judged)
            return None
        whole = proposal.replace(action=judged)
        return self._consider(pending, whole)

    def _is_at_limit(self) -> bool:
        """Tell whether the run may not ask its model once more."""
        state, limits = self._run_log.state, self._dependencies.limits
        elapsed_s = state.elapsed_s(self._dependencies.clock.now())
        return find_reached_limit(state, limits, elapsed_s) is not None

    def _propose(self, pending: PendingCall, finish: ev.Finish) -> AgentEnding | None:
        """Show a plan to people, or do what they have said about it."""
        run_log = self._run_log
        verdict = judge_plan(finish, pending, run_log.state, run_log.last_message_id)
        match verdict:
            case ApprovedPlan(by=by):
                self._event_writer.change(ev.AgentState.USER_CONFIRMED, by)
                self._event_writer.change(ev.AgentState.RUNNING)
                self._conclude(pending, verdict.result)
            case RevisedPlan():
                self._event_writer.change(ev.AgentState.USER_REJECTED)
                self._event_writer.change(ev.AgentState.RUNNING)
                self._conclude(pending, verdict.result)
            case DroppedPlan(by=by):
                self._event_writer.change(ev.AgentState.USER_REJECTED, by)
                self.refuse_remaining(SKIPPED_AFTER_END)
                return plan_dropped_ending(by)
            case ProposedPlan(asked=asked, text=text):
                if pending.asked is None:
                    self._event_writer.write(ev.Source.SYSTEM, asked, self._reply.id)
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
                    self._event_writer.change(ev.AgentState.USER_CONFIRMED, by)
                    self._event_writer.change(ev.AgentState.RUNNING)
                sent = self._event_writer.write(ev.Source.AGENT, action, self._reply.id)
                return self._carry_out(pending, action, sent.id)
            case ActionRefused(text=text, by=by):
                self._event_writer.change(ev.AgentState.USER_REJECTED, by)
                self._event_writer.change(ev.AgentState.RUNNING)
                self._conclude(pending, ev.UserRejected(text=text))
                return None
            case ActionWaits(asked=asked, text=text):
                if pending.asked is None:
                    self._event_writer.write(ev.Source.SYSTEM, asked, self._reply.id)
                return confirmation_ending(text)
            case _:
                assert_never(verdict)

    def _carry_out(
        self, pending: PendingCall, action: ev.AgentStep, action_id: int
    ) -> AgentEnding | None:
        observation: ev.Observation
        if isinstance(action, ev.Delegate):
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
        self,
        pending: PendingCall,
        observation: ev.Observation,
        cause: int | None = None,
    ) -> None:
        """Write down a call's one result."""
        result = observation.replace(call_id=pending.call.id)
        self._event_writer.write(ev.Source.ENVIRONMENT, result, cause or self._reply.id)

    def refuse_remaining(self, why: str) -> None:
        while pending := self._reply.first():
            self._conclude(pending, _not_run(why))


def _not_run(text: str) -> ev.ErrorObservation:
    return ev.ErrorObservation(reason="not-run", text=text)
