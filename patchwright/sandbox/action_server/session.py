"""A named shell session: a state that stays, and at most one command at a time."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from patchwright.sandbox.action_server import hints, shell_script
from patchwright.sandbox.action_server.capture import Capture
from patchwright.sandbox.action_server.cgroup import count_memory_kills
from patchwright.sandbox.action_server.command import RunningCommand, CommandRequest
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.loop import EventLoop, Timer
from patchwright.sandbox.action_server.output import LogFolder
from patchwright.sandbox.action_server.processes import (
    Process,
    find_children,
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.shell_process import (
    ShellProcess,
    start_command,
    is_waiting,
    open_shell_files,
    read_whole,
    rewrite,
    start_shell,
)
from patchwright.sandbox.action_server.stdin_feed import StdinFeed, reopen_input
from patchwright.sandbox.action_server.stopping import (
    GRACE_S,
    SHORT_GRACE_S,
    Termination,
)

# How many soft limits a command may live.
HARD_LIMIT_FACTOR = 10


class ShellSession:
    """Runs commands, each in a shell of its own that has the state of the one before.

    A shell is a child of this process: how it ended is told by the kernel, and nothing
    that runs in it can say otherwise.
    """

    def __init__(self, name: str, loop: EventLoop, config: Config, logs: LogFolder) -> None:
        self._loop = loop
        self._config = config
        self._launch, self._state = shell_script.plan_shell(config, dict(os.environ))
        self._wiring = open_shell_files()
        self._capture = Capture(name, self._wiring.output_read, loop, logs)
        self._spare: ShellProcess | None = None
        self._shell: int | None = None
        self._leaders: list[int] = []
        self._stopping: Termination | None = None
        self._hard_limit: Timer | None = None
        self._memory_kills = count_memory_kills()
        self.command: RunningCommand | None = None

    def start(self, order: CommandRequest) -> RunningCommand:
        """Start a command; the session must be idle."""
        shell = self._take_shell()
        capture = self._capture
        command = RunningCommand(capture.handle, order, capture.output, self._loop)
        source = shell_script.NO_INPUT
        if order.stdin or order.stdin_stays_open:
            source = shell_script.PIPED_INPUT
            command.stdin = self._feed(order)
        self._shell, self.command = shell.pid, command
        rewrite(self._wiring.state, self._state.script_at_turn(self._config.workspace))
        rewrite(self._wiring.command, order.command.encode("utf-8", "replace"))
        start_command(shell, source)
        self._set_hard_limit(order)
        return command

    def cancel(self, command: RunningCommand) -> None:
        """Kill a command quickly, unless it has ended."""
        if self.command is not command:
            return
        if self._stopping is None:
            self.stop(hints.CALLED_OFF, SHORT_GRACE_S)
        else:
            self._stopping.escalate()

    def stop(self, note: str, grace_s: float = GRACE_S) -> None:
        """Kill the running command; its waiters hear of it when all of it is gone."""
        if self.command is None or self._shell is None or self._stopping is not None:
            return
        self._stopping = Termination(
            self._loop,
            self._shell,
            self.command.older_pids,
            lambda: self._stopped(note),
            grace_s,
        )
        self._stopping.begin()

    def interrupt(self) -> None:
        """Do to the command what Ctrl-C does at a terminal, and no more."""
        if self.command is None or self._shell is None:
            return
        for process in find_descendants(self._shell, list_processes()):
            if process.pid not in self.command.older_pids:
                send_signal(process.pid, signal.SIGINT)

    def close(self) -> None:
        """Let go of the files of an idle session."""
        self._drop(self._spare)
        self._capture.close()
        for fd in self._wiring:
            os.close(fd)

    def _feed(self, order: CommandRequest) -> StdinFeed:
        feed = StdinFeed(self._loop, reopen_input(self._wiring.input_read))
        feed.write(order.stdin.encode("utf-8", "replace"))
        if not order.stdin_stays_open:
            feed.end()
        return feed

    def _set_hard_limit(self, order: CommandRequest) -> None:
        soft_limit_s = max(order.timeout_s, self._config.command_timeout_s)
        limit_s = HARD_LIMIT_FACTOR * soft_limit_s
        self._hard_limit = self._loop.after(
            limit_s, lambda: self.stop(hints.timed_out(limit_s))
        )

    def _take_shell(self) -> ShellProcess:
        spare, self._spare = self._spare, None
        if spare is None or not is_waiting(spare):
            self._drop(spare)
            return self._start_shell()
        return spare

    def _start_shell(self) -> ShellProcess:
        early = self._state.script_before_turn(self._config.workspace)
        rewrite(self._wiring.variables, early)
        shell = start_shell(self._launch, self._config, self._wiring)
        self._loop.on_exit(shell.pid, lambda code: self._shell_ended(shell.pid, code))
        return shell

    def _prepare_spare(self) -> None:
        """Start the next command's shell before it comes: that takes a while."""
        with suppress(OSError):  # too many processes; there may be room later
            self._spare = self._start_shell()

    def _drop(self, spare: ShellProcess | None) -> None:
        if spare is not None:
            os.close(spare.go_write)

    def _shell_ended(self, shell: int, code: int) -> None:
        """Take over the state of the shell; without one, the command broke it off."""
        self._leaders.append(shell)
        if self._shell != shell or self._stopping is not None:
            return
        self._shell = None
        state = shell_script.read_state(read_whole(self._wiring.state))
        if state is not None:
            self._state = state
        self._end(code, "" if state is not None else hints.RESTARTED)

    def _stopped(self, note: str) -> None:
        self._shell = None
        self._stopping = None
        self._end(None, f"{note} {hints.RESTARTED}")

    def _end(self, exit_code: int | None, note: str) -> None:
        command, self.command = self.command, None
        if command is None:
            return
        if self._hard_limit is not None:
            self._hard_limit.cancel()
        if command.stdin is not None:
            command.stdin.close()
        output = self._capture.finish()
        notes = [note, *self._hints(command, exit_code, output.tail())]
        command.end(exit_code, self._state.cwd, " ".join(filter(None, notes)))
        self._prepare_spare()

    def _hints(self, command: RunningCommand, exit_code: int | None, text: str) -> list[str]:
        kills_before, self._memory_kills = self._memory_kills, count_memory_kills()
        found = []
        if exit_code is not None:
            kills = self._memory_kills - kills_before
            limit = self._config.memory_bytes
            found.append(hints.memory_hint(exit_code, text, kills, limit))
        if exit_code is not None and command.stdin is None:
            found.append(hints.prompt_hint(command.order.command, exit_code, text))
        found.append(hints.background_hint(self._list_background()))
        return found

    def _list_background(self) -> list[Process]:
        """Return what the session's commands have left running.

        Whose shell has ended is a child of this process, and in that shell's session.
        """
        left = [
            one for one in find_children(os.getpid()) if one.session in self._leaders
        ]
        self._leaders = list({process.session for process in left})
        return left
