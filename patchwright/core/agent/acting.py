"""Carry out an agent's actions, and end them when they are called off."""

from concurrent.futures import Future
from typing import Final

from patchwright.core.agent.attention import CancelToken, RunCancelledError
from patchwright.core.agent.chronicle import RunLog
from patchwright.core.agent.disowning import UNKNOWN_RESULT
from patchwright.core.agent.kit import AgentDependencies
from patchwright.core.background import start_call
from patchwright.core.events.types import (
    AgentStep,
    CallMcpTool,
    ControlCommand,
    ErrorObservation,
    Null,
    Observation,
    Recall,
    RunCommand,
    RunIpython,
    SandboxAction,
    SandboxObservation,
)

# What a cancelled action gets to hand over what it has printed so far.
CANCEL_GRACE_S: Final = 0.7

_CANCELLED_TEXT: Final = "Ended before its time: a person wanted the run to stop."


class ActionExecutor:
    """Carries out actions of one agent, all but delegation.

    Raises `RuntimeLostError`, and `LeaseLostError` when the job was given back.
    """

    def __init__(
        self, run_log: RunLog, dependencies: AgentDependencies, cancel_token: CancelToken
    ) -> None:
        self._run_log, self._dependencies = run_log, dependencies
        self._cancel_token = cancel_token

    def perform(self, action: AgentStep, action_id: int) -> Observation:
        if isinstance(action, SandboxAction):
            return _result_of(action, self._run(action, action_id))
        if isinstance(action, CallMcpTool):
            return _result_of(action, self._call_tool(action))
        if isinstance(action, Recall):
            return _result_of(action, self._dependencies.library.recall(action.query))
        return _result_of(action, Null())

    def resume(self, action: AgentStep, action_id: int) -> Observation:
        """Find out what came of an action that an earlier worker has sent off.

        In a sandbox the same id is the same action, and where that sandbox is lost the
        result was given before (see `disown`); a server of tools knows no such thing.
        """
        if isinstance(action, CallMcpTool):
            unknown = ErrorObservation(reason="unknown", text=UNKNOWN_RESULT)
            return _result_of(action, unknown)
        return self.perform(action, action_id)

    def _run(self, action: SandboxAction, action_id: int) -> Observation:
        runtime, timed = self._dependencies.runtime, self._in_time(action)
        future = start_call(lambda: runtime.run(timed, str(action_id)))
        try:
            return self._cancel_token.wait_for(future)
        except RunCancelledError:
            return self._cancel(future, str(action_id))

    def _cancel(
        self, future: "Future[SandboxObservation]", action_id: str
    ) -> Observation:
        """End an action, and return what it has printed if it says so soon."""
        self._dependencies.runtime.cancel(action_id)
        try:
            return future.result(CANCEL_GRACE_S)
        except TimeoutError:
            # Perhaps the word to end it has overtaken the action itself.
            self._dependencies.runtime.cancel(action_id)
            return ErrorObservation(reason="called-off", text=_CANCELLED_TEXT)

    def _call_tool(self, action: CallMcpTool) -> Observation:
        mcp = self._dependencies.mcp
        try:
            return self._cancel_token.wait_for(start_call(lambda: mcp.call(action)))
        except RunCancelledError:
            return ErrorObservation(reason="called-off", text=_CANCELLED_TEXT)

    def _in_time(self, action: SandboxAction) -> SandboxAction:
        """Let no command be waited for beyond the end of the run."""
        if not isinstance(action, RunCommand | ControlCommand | RunIpython):
            return action
        if action.timeout_s is None:
            return action
        elapsed_s = self._run_log.state.elapsed_s(self._dependencies.clock.now())
        left_s = max(self._dependencies.limits.max_minutes * 60 - elapsed_s, 1.0)
        return action.replace(timeout_s=min(action.timeout_s, left_s))


def _result_of(action: AgentStep, observation: Observation) -> Observation:
    return observation.replace(call_id=action.call_id, agent=action.agent)
