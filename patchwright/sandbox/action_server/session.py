"""A named shell session: one shell that stays, and at most one command at a time."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios

from patchwright.sandbox.action_server import hints, shell_script
from patchwright.sandbox.action_server.cgroup import count_memory_kills
from patchwright.sandbox.action_server.command import Command, Order
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.loop import Loop, Timer
from patchwright.sandbox.action_server.output import FullLog, LogFolder, Output
from patchwright.sandbox.action_server.processes import (
    find_children,
    find_descendants,
    list_processes,
    read_process,
    send_signal,
)
from patchwright.sandbox.action_server.shell_process import (
    Shell,
    lay_wires,
    start_shell,
)
from patchwright.sandbox.action_server.stdin_feed import StdinFeed
from patchwright.sandbox.action_server.stopping import Stopping

CHUNK = 1 << 16
# A command may outlive the call that started it by this much, then it is killed.
HARD_LIMIT_FACTOR = 10


class Session:
    """Runs commands in its shell, and starts a new shell where one ended."""

    def __init__(self, name: str, loop: Loop, config: Config, logs: LogFolder) -> None:
        self._name = name
        self._loop = loop
        self._config = config
        self._logs = logs
        self._launch = shell_script.plan_launch(config, dict(os.environ))
        self._wiring = lay_wires()
        self._shell: Shell | None = None
        self._cwd = os.path.join(config.workspace, "repo")
        self._count = 0
        self._output = self._next_output()
        self._stopping: Stopping | None = None
        self._hard_limit: Timer | None = None
        self._word = ""
        self._note = ""
        self._memory_kills = count_memory_kills()
        self.command: Command | None = None
        loop.watch_read(self._wiring.output_read, self._read_output)

    def start(self, order: Order) -> Command:
        """Start a command; the session must be idle."""
        shell = self._living_shell()
        handle = f"{self._name}-{self._count}"
        command = Command(handle, order, self._output, self._loop)
        self.command = command
        self._word = os.urandom(8).hex()
        has_input = bool(order.stdin) or order.stdin_stays_open
        if has_input:
            command.stdin = self._feed(order)
        _rewrite(self._wiring.command, order.command.encode("utf-8", "replace"))
        source = shell_script.PIPED_INPUT if has_input else shell_script.NO_INPUT
        os.write(shell.go_write, f"{source}\n{self._word}\n".encode())
        limit_s = order.timeout_s * HARD_LIMIT_FACTOR
        self._hard_limit = self._loop.after(
            limit_s, lambda: self.stop(hints.timed_out(limit_s))
        )
        return command

    def stop(self, note: str) -> None:
        """Kill the running command; its waiters hear of it when all of it is gone."""
        if self.command is None or self._shell is None or self._stopping is not None:
            return
        self._stopping = Stopping(
            self._loop,
            self._shell.pid,
            self.command.older_pids,
            lambda: self._end(None, note),
        )
        self._stopping.begin()

    def close(self) -> None:
        """End the shell of an idle session and let go of its files."""
        if self._shell is not None:
            send_signal(self._shell.pid, signal.SIGKILL)
            self._drop_shell(self._shell)
        self._loop.unwatch(self._wiring.output_read)
        self._output.close()
        for fd in self._wiring:
            os.close(fd)

    def interrupt(self) -> None:
        """Do to the command what Ctrl-C does at a terminal, and no more."""
        if self.command is None or self._shell is None:
            return
        for process in find_descendants(self._shell.pid, list_processes()):
            if process.pid not in self.command.older_pids:
                send_signal(process.pid, signal.SIGINT)

    def _feed(self, order: Order) -> StdinFeed:
        feed = StdinFeed(self._loop, self._wiring.input_read)
        feed.write(order.stdin.encode("utf-8", "replace"))
        if not order.stdin_stays_open:
            feed.end()
        return feed

    def _living_shell(self) -> Shell:
        if self._shell is not None and read_process(self._shell.pid) is None:
            self._drop_shell(self._shell)
        if self._shell is not None:
            return self._shell
        shell = start_shell(self._launch, self._config, self._wiring, self._cwd)
        self._loop.watch_read(shell.done_read, lambda: self._read_done(shell))
        self._loop.on_exit(shell.pid, lambda code: self._shell_ended(shell, code))
        self._shell = shell
        return shell

    def _drop_shell(self, shell: Shell) -> None:
        self._loop.unwatch(shell.done_read)
        os.close(shell.done_read)
        os.close(shell.go_write)
        self._shell = None

    def _read_output(self) -> None:
        try:
            self._output.feed(os.read(self._wiring.output_read, CHUNK))
        except BlockingIOError:  # a command that ended took it along
            return

    def _read_done(self, shell: Shell) -> None:
        try:
            words = os.read(shell.done_read, CHUNK).split()
        except BlockingIOError:
            return
        if len(words) == 2 and words[0] == self._word.encode():  # noqa: PLR2004
            self._command_ended(int(words[1]), "")

    def _shell_ended(self, shell: Shell, code: int) -> None:
        if self._shell is not shell:
            return
        # The command may have ended just before its shell did.
        self._read_done(shell)
        self._drop_shell(shell)
        if self.command is None:
            self._note = hints.RESTARTED_BETWEEN
        else:
            self._command_ended(code, hints.RESTARTED)

    def _command_ended(self, code: int, note: str) -> None:
        if self.command is None:
            return
        if self._stopping is not None:
            self._stopping.shell_is_free = True
            self._stopping.check()
            return
        self._end(code, note)

    def _end(self, exit_code: int | None, note: str) -> None:
        command, self.command = self.command, None
        self._stopping = None
        if command is None:
            return
        if self._hard_limit is not None:
            self._hard_limit.cancel()
        if command.stdin is not None:
            command.stdin.close()
        self._drain()
        self._cwd = self._current_folder()
        notes = [self._note, note, *self._hints(command, exit_code)]
        self._note = ""
        self._output = self._next_output()
        command.end(exit_code, self._cwd, " ".join(filter(None, notes)))

    def _hints(self, command: Command, exit_code: int | None) -> list[str]:
        kills_before, self._memory_kills = self._memory_kills, count_memory_kills()
        found = []
        if exit_code is not None:
            text = self._output.tail()
            kills = self._memory_kills - kills_before
            limit = self._config.memory_bytes
            found.append(hints.memory_hint(exit_code, text, kills, limit))
            if command.stdin is None:
                found.append(hints.prompt_hint(command.order.command, exit_code, text))
        if self._shell is not None:
            found.append(hints.background_hint(find_children(self._shell.pid)))
        return found

    def _drain(self) -> None:
        """Read what was printed until now, but not what a background process adds."""
        waiting = bytearray(4)
        fcntl.ioctl(self._wiring.output_read, termios.FIONREAD, waiting)
        (count,) = struct.unpack("i", waiting)
        while count > 0:
            data = os.read(self._wiring.output_read, min(count, CHUNK))
            self._output.feed(data)
            count -= len(data)

    def _current_folder(self) -> str:
        if self._shell is None:
            return self._cwd
        try:
            return os.readlink(f"/proc/{self._shell.pid}/cwd")
        except OSError:
            return self._cwd

    def _next_output(self) -> Output:
        self._count += 1
        return Output(FullLog(self._logs, f"{self._name}-{self._count}"))


def _rewrite(fd: int, data: bytes) -> None:
    os.ftruncate(fd, 0)
    position = 0
    while position < len(data):
        position += os.pwrite(fd, data[position:], position)
