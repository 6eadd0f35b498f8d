"""The sandboxes of a run: their resources, their set-up, and their end."""

import shutil
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.run_log import CancelToken, ReleaseSignal, RunCancelledError
from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog
from patchwright.core.runtime import (
    Runtime,
    RuntimeFactory,
    SandboxSpec,
    find_large_files,
)
from patchwright.core.security.hosts import Domain, read_domain
from patchwright.core.settings.limits import SandboxSettings
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.system.clock import Clock, start_call
from patchwright.core.text.escape import code_block, inline_code
from patchwright.core.types.errors import SandboxError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import BlockedRequest, Outcome, service_outcome
from patchwright.resolver.set_up.cache import open_set_up_cache
from patchwright.resolver.set_up.reuse import SetUpAttempt, SetUpReuse

# A run's sandboxes may live longer than its time limit, for proof and delivery.
_GRACE_S = 3600.0


def sandbox_spec(settings: Settings, run_id: str) -> SandboxSpec:
    wanted = settings.sandbox
    return SandboxSpec(
        run_id=run_id,
        image=wanted.image,
        network=wanted.network == "allow",
        domains=_domains(wanted),
        memory=wanted.memory,
        disk=wanted.disk,
        cpus=wanted.cpus,
        command_timeout_s=wanted.command_timeout_seconds,
        lifetime_s=settings.limits.timeout_minutes * 60 + _GRACE_S,
        engine_runtime=wanted.runtime,
    )


def _domains(wanted: SandboxSettings) -> tuple[Domain, ...]:
    if wanted.network != "allowlist":
        return ()
    return tuple(map(read_domain, wanted.allow_domains))


_GIB = 1024**3

log = structlog.get_logger(__name__)


def check_disk_space(settings: Settings, clock: Clock) -> Outcome | None:
    """Return the outcome if a run must not begin because the disk is nearly full.

    What set-ups have made is removed before anybody has to wait.
    """
    floor = settings.limits.min_free_gib
    free = _free_gib(settings.state_dir)
    cache = open_set_up_cache(settings, clock)
    if free < floor and cache is not None:
        cache.clear()
        free = _free_gib(settings.state_dir)
    if free >= floor:
        return None
    log.error("disk_nearly_full", free_gib=round(free, 1), floor_gib=floor)
    text = (
        f"The disk of the worker machine has {free:.1f} GiB free, and {floor:g} GiB "
        "must stay free (`limits.min_free_gib`). Nothing was started."
    )
    return service_outcome(OutcomeKind.FAILED, "disk-full", text)


def _free_gib(folder: Path) -> float:
    """Return what is free where it is, or is to be made."""
    existing = next(one for one in (folder, *folder.parents) if one.is_dir())
    return shutil.disk_usage(existing).free / _GIB


_WORK: Final = "work"


class InterruptibleSandboxes:
    """Starts sandboxes that end as soon as the job is released.

    A call that waits for such a sandbox gets a `RuntimeLostError`. With `for_another`
    the agent's sandbox keeps running for the next worker of the job.
    """

    def __init__(
        self,
        sandboxes: RuntimeFactory,
        release_signal: ReleaseSignal,
        *,
        for_another: bool = False,
    ) -> None:
        self.kind = sandboxes.kind
        self.remove, self.reap = sandboxes.remove, sandboxes.reap
        self._sandboxes, self._release_signal = sandboxes, release_signal
        self._for_another = for_another

    def start(self, spec: SandboxSpec) -> Runtime:
        return self._watched(self._sandboxes.start(spec), spec)

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        found = self._sandboxes.attach(spec)
        return self._watched(found, spec) if found else None

    def _watched(self, runtime: Runtime, spec: SandboxSpec) -> Runtime:
        once = _EndedOnce(runtime)
        is_left = self._for_another and spec.role == _WORK
        end = once.detach if is_left else once.close
        # The callback runs immediately if the job was released already.
        self._release_signal.add_done_callback(lambda _: end())
        return once


class _EndedOnce:
    """A sandbox that two threads may end; the later one waits for the other."""

    def __init__(self, runtime: Runtime) -> None:
        self.kind = runtime.kind
        self.run, self.cancel = runtime.run, runtime.cancel
        self.upload, self.download = runtime.upload, runtime.download
        self.open_pipe, self.blocked = runtime.open_pipe, runtime.blocked
        self.large_files = find_large_files(runtime)
        self._runtime = runtime
        self._lock = threading.Lock()
        self._is_open = True

    def detach(self) -> None:
        self._end(self._runtime.detach)

    def close(self) -> None:
        self._end(self._runtime.close)

    def _end(self, end: Callable[[], None]) -> None:
        with self._lock:
            if self._is_open:
                self._is_open = False
                end()


# Far above the limit of a command: a set-up without output is not stuck.
SETUP_S: Final = 1800.0
# The agent name of set-up events: no agent has it, so no agent reads them as its own.
SETUP: Final = "setup"
_TAIL_CHARS: Final = 2_000
# What a shell answers for a program that it does not find.
_NOT_FOUND: Final = 127


@dataclass(frozen=True)
class SetUp:
    """The set-up commands of a repository, and the file that they come from.

    With `may_fail` the run goes on after a failed command, and the agent is told. With
    `reuse` a sandbox starts from what an earlier one has made, if that fits.
    """

    commands: tuple[str, ...]
    may_fail: bool = False
    config_file: str = CONFIG_FILE
    reuse: SetUpReuse | None = None

    def open(self, runtime: Runtime, commit: str) -> SetUpAttempt | None:
        """Return the attempt to reuse a set-up in a sandbox of that commit."""
        if self.reuse is None:
            return None
        return self.reuse.open(runtime, commit, self.commands)


NO_SET_UP: Final = SetUp(())


def set_up(
    wanted: SetUp,
    runtime: Runtime,
    log: EventLog,
    cancel_token: CancelToken,
    commit: str = "",
) -> AgentEnding | None:
    """Run the commands one after the other; return how the run ends if one fails.

    Nothing else runs in the sandbox before they have ended. If the run is cancelled,
    they end immediately, and the next step of the run handles the reason. A new sandbox
    with exactly the files of a `commit` may start from what an earlier set-up has made.
    """
    reused = wanted.open(runtime, commit)
    if reused is None:
        return _run_commands(wanted, runtime, log, cancel_token).ending
    if reused.restore():
        return None
    reused.begin()
    ran = _run_commands(wanted, runtime, log, cancel_token)
    if ran.all_worked:
        # Before anybody else does anything in the sandbox.
        reused.keep()
    return ran.ending


class _CommandsRun(NamedTuple):
    ending: AgentEnding | None
    all_worked: bool = False


def _run_commands(
    wanted: SetUp, runtime: Runtime, log: EventLog, cancel_token: CancelToken
) -> _CommandsRun:
    all_worked = True
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
            return _CommandsRun(None)
        log.append(ev.Source.ENVIRONMENT, output.replace(agent=SETUP), asked.id)
        if output.exit_code == 0:
            continue
        all_worked = False
        if not wanted.may_fail:
            return _CommandsRun(_failed_ending(command, output, wanted.config_file))
        text = (
            f"{_failure_text(command, output.exit_code)} The work continues without it."
        )
        log.append(ev.Source.SYSTEM, ev.Message(text=text))
    return _CommandsRun(None, all_worked)


def set_up_failures(log: EventLog, start_id: int) -> tuple[str, ...]:
    """Return a note for each set-up command that failed, each once."""
    kinds = frozenset({"run_command", "command_output"})
    own = [e for e in log.read(start_id, kinds=kinds) if e.payload.agent == SETUP]
    asked = {e.id: e.payload for e in own if isinstance(e.payload, ev.RunCommand)}
    notes = [
        _failure_text(asked[event.cause].command, event.payload.exit_code)
        for event in own
        if isinstance(event.payload, ev.CommandOutput)
        and event.payload.exit_code != 0
        and event.cause in asked
    ]
    return tuple(dict.fromkeys(notes))


def was_set_up_interrupted(
    commands: Sequence[str], log: EventLog, start_id: int
) -> bool:
    """Tell whether the newest set-up did not finish because its worker was lost."""
    if not commands:
        return False
    kinds = frozenset({"run_command", "command_output"})
    own = [e for e in log.read(start_id, kinds=kinds) if e.payload.agent == SETUP]
    asked = {e.id: e.payload for e in own if isinstance(e.payload, ev.RunCommand)}
    if not own:
        return False
    last = asked.get(own[-1].cause or 0)
    return last is None or last.command != commands[-1]


def set_up_unrecorded(wanted: SetUp, runtime: Runtime, commit: str = "") -> None:
    """Run the set-up in a sandbox without an agent; raises `SandboxError`.

    One with exactly the files of a `commit` may start from an earlier set-up.
    """
    reused = wanted.open(runtime, commit)
    if reused is not None:
        if reused.restore():
            return
        reused.begin()
    all_worked = True
    for number, command in enumerate(wanted.commands):
        action = ev.RunCommand(command=command, session=SETUP, timeout_s=SETUP_S)
        output = run_to_end(runtime, action, f"{SETUP}-{number}")
        if output.exit_code != 0 and not wanted.may_fail:
            raise SandboxError(_failed_ending(command, output, wanted.config_file).text)
        all_worked = all_worked and output.exit_code == 0
    if reused is not None and all_worked:
        reused.keep()


def run_to_end(
    runtime: Runtime, action: ev.RunCommand, action_id: str
) -> ev.CommandOutput:
    """Run a command; after its time limit it is killed, and has no exit code."""
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
    if exit_code == _NOT_FOUND:
        code = f"{code}, a program is not in the sandbox"
    first_line = command.partition("\n")[0]
    return f"The repository's set-up failed ({code}): {inline_code(first_line)}."


def close_and_record_blocked(runtime: Runtime, log: EventLog) -> None:
    """Close a sandbox, and record in the log which connections were blocked."""
    try:
        for blocked in runtime.blocked():
            log.append(ev.Source.SYSTEM, blocked)
    finally:
        runtime.close()


def sum_blocked_requests(log: EventLog, start_id: int) -> tuple[BlockedRequest, ...]:
    """Return the blocked connections of all sandboxes of a run, without repeats."""
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
