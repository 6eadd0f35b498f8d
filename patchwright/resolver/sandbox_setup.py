"""Run the set-up commands in a new sandbox, and record what was blocked in it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.run_log import CancelToken, RunCancelledError
from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog
from patchwright.core.runtime import Runtime
from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.system.clock import start_call
from patchwright.core.text.escape import code_block, inline_code
from patchwright.core.types.errors import SandboxError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import BlockedRequest

# Its own limit, far above that of a command: a set-up that says nothing is not stuck.
SETUP_S: Final = 1800.0
# Whose events these are: no agent's, so that none takes them for its own.
SETUP: Final = "setup"
_TAIL_CHARS: Final = 2_000


@dataclass(frozen=True)
class SetUp:
    """What a repository wants to be run first, and where that is written.

    If it may fail, the agent is told what has failed, and everything else goes on.
    """

    commands: tuple[str, ...]
    may_fail: bool = False
    config_file: str = CONFIG_FILE


def set_up(
    wanted: SetUp, runtime: Runtime, log: EventLog, cancel_token: CancelToken
) -> AgentEnding | None:
    """Run the commands one after the other; return how the run ends if one fails.

    Nothing else runs in the sandbox before they have ended. Called off, they end at
    once; whoever comes next hears why.
    """
    for command in wanted.commands:
        action = ev.RunCommand(
            command=command, session=SETUP, timeout_s=SETUP_S, agent=SETUP
        )
        asked = log.append(ev.Source.SYSTEM, action)
        future = start_call(lambda: run_to_end(runtime, action, str(asked.id)))  # noqa: B023 - waited for before the next turn
        try:
            output = cancel_token.wait_for(future)
        except RunCancelledError:
            runtime.cancel(str(asked.id))
            return None
        log.append(ev.Source.ENVIRONMENT, output.replace(agent=SETUP), asked.id)
        if output.exit_code == 0:
            continue
        if not wanted.may_fail:
            return _failed_ending(command, output, wanted.config_file)
        told = (
            f"{_failure_text(command, output.exit_code)} The work goes on without it."
        )
        log.append(ev.Source.SYSTEM, ev.Message(text=told))
    return None


def set_up_failures(log: EventLog, start_id: int) -> tuple[str, ...]:
    """Say which commands of a run's set-ups have failed, each once."""
    kinds = frozenset({"run_command", "command_output"})
    own = [e for e in log.read(start_id, kinds=kinds) if e.payload.agent == SETUP]
    asked = {e.id: e.payload for e in own if isinstance(e.payload, ev.RunCommand)}
    told = [
        _failure_text(asked[event.cause].command, event.payload.exit_code)
        for event in own
        if isinstance(event.payload, ev.CommandOutput)
        and event.payload.exit_code != 0
        and event.cause in asked
    ]
    return tuple(dict.fromkeys(told))


def was_set_up_interrupted(
    commands: Sequence[str], log: EventLog, start_id: int
) -> bool:
    """Tell whether the newest set-up did not come to its end: its worker was lost."""
    if not commands:
        return False
    kinds = frozenset({"run_command", "command_output"})
    own = [e for e in log.read(start_id, kinds=kinds) if e.payload.agent == SETUP]
    asked = {e.id: e.payload for e in own if isinstance(e.payload, ev.RunCommand)}
    if not own:
        return False
    last = asked.get(own[-1].cause or 0)
    return last is None or last.command != commands[-1]


def set_up_unrecorded(wanted: SetUp, runtime: Runtime) -> None:
    """Run them in a sandbox that only the controller uses; raises `SandboxError`."""
    for number, command in enumerate(wanted.commands):
        action = ev.RunCommand(command=command, session=SETUP, timeout_s=SETUP_S)
        output = run_to_end(runtime, action, f"{SETUP}-{number}")
        if output.exit_code != 0 and not wanted.may_fail:
            raise SandboxError(_failed_ending(command, output, wanted.config_file).text)


def run_to_end(
    runtime: Runtime, action: ev.RunCommand, action_id: str
) -> ev.CommandOutput:
    """Run a command; one that outlives its limit is killed, and has no exit code."""
    output = _command_output(runtime.run(action, action_id))
    if not output.still_running:
        return output
    kill = ev.ControlCommand(handle=output.handle, act=ev.ControlAct.KILL)
    killed = _command_output(runtime.run(kill, f"{action_id}-kill"))
    return killed.replace(exit_code=None)


def _command_output(observation: ev.SandboxObservation) -> ev.CommandOutput:
    if isinstance(observation, ev.CommandOutput):
        return observation
    raise SandboxError(f"the command could not be run: {observation}")


def _failed_ending(command: str, output: ev.CommandOutput, file: str) -> AgentEnding:
    text = (
        f"{_failure_text(command, output.exit_code)} It is the "
        f"`setup` of its {inline_code(file)}.\n\n"
        f"{code_block(output.output[-_TAIL_CHARS:])}"
    )
    return AgentEnding(OutcomeKind.FAILED, "setup-failed", text, by_service=True)


def _failure_text(command: str, exit_code: int | None) -> str:
    code = "did not end" if exit_code is None else f"exit {exit_code}"
    return f"The repository's set-up failed ({code}): {inline_code(command)}."


def close_and_record_blocked(runtime: Runtime, log: EventLog) -> None:
    """Close a sandbox, and have the log say what was blocked in it."""
    try:
        for blocked in runtime.blocked():
            log.append(ev.Source.SYSTEM, blocked)
    finally:
        runtime.close()


def sum_blocked_requests(log: EventLog, start_id: int) -> tuple[BlockedRequest, ...]:
    """Return what was blocked in all sandboxes of a run, each host and port once."""
    events = log.read(start_id, kinds=frozenset({"request_blocked"}))
    total: Counter[tuple[str, int]] = Counter()
    for event in events:
        if isinstance(event.payload, ev.RequestBlocked):
            blocked = event.payload
            total[blocked.host, blocked.port] += blocked.count
    return tuple(
        BlockedRequest(host=host, port=port, count=count)
        for (host, port), count in total.items()
    )
