"""A named shell session: one shell that stays, and at most one command at a time."""

from __future__ import annotations

import os
import signal

from patchwright.sandbox.action_server import hints, shell_script
from patchwright.sandbox.action_server.capture import CHUNK, Capture
from patchwright.sandbox.action_server.cgroup import count_memory_kills
from patchwright.sandbox.action_server.command import Command, Order
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.loop import Loop, Timer
from patchwright.sandbox.action_server.output import LogFolder
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
    read_whole,
    rewrite,
    start_shell,
)
from patchwright.sandbox.action_server.stdin_feed import StdinFeed, reopen_input
from patchwright.sandbox.action_server.stopping import (
    GRACE_S,
    SHORT_GRACE_S,
    Stopping,
)

# How many soft limits a command may live.
HARD_LIMIT_FACTOR = 10


class Session:
    """Runs commands in its shell, and starts a new shell where one ended."""

    def __init__(self, name: str, loop: Loop, config: Config, logs: LogFolder) -> None:
        self._loop = loop
        self._config = config
        self._launch = shell_script.plan_launch(config, dict(os.environ))
        self._wiring = lay_wires()
        self._capture = Capture(name, self._wiring.output_read, loop, logs)
        self._shell: Shell | None = None
        self._cwd = os.path.join(config.workspace, "repo")
        self._stopping: Stopping | None = None
        self._hard_limit: Timer | None = None
        self._word = b""
        self._state = b""
        self._note = ""
        self._memory_kills = count_memory_kills()
        self.command: Command | None = None

    def start(self, order: Order) -> Command:
        """Start a command; the session must be idle."""
        shell = self._living_shell()
        capture = self._capture
        self.command = Command(capture.handle, order, capture.output, self._loop)
        source = shell_script.NO_INPUT
        if order.stdin or order.stdin_stays_open:
            source = shell_script.PIPED_INPUT
            self.command.stdin = self._feed(order)
        rewrite(self._wiring.command, order.command.encode("utf-8", "replace"))
        self._word = os.urandom(8).hex().encode()
        os.write(shell.go_write, b"%s\n%s\n" % (source.encode(), self._word))
        self._set_hard_limit(order)
        return self.command

    def call_off(self, command: Command) -> None:
        """Kill a command quickly, unless it has ended."""
        if self.command is not command:
            return
        if self._stopping is None:
            self.stop(hints.CALLED_OFF, SHORT_GRACE_S)
        else:
            self._stopping.hurry()

    def stop(self, note: str, grace_s: float = GRACE_S) -> None:
        """Kill the running command; its waiters hear of it when all of it is gone."""
        if self.command is None or self._shell is None or self._stopping is not None:
            return
        self._stopping = Stopping(
            self._loop,
            self._shell.pid,
            self.command.older_pids,
            lambda: self._stopped(note),
            grace_s,
        )
        self._stopping.begin()

    def interrupt(self) -> None:
        """Do to the command what Ctrl-C does at a terminal, and no more."""
        if self.command is None or self._shell is None:
            return
        for process in find_descendants(self._shell.pid, list_processes()):
            if process.pid not in self.command.older_pids:
                send_signal(process.pid, signal.SIGINT)

    def close(self) -> None:
        """End the shell of an idle session and let go of its files."""
        if self._shell is not None:
            send_signal(self._shell.pid, signal.SIGKILL)
            self._drop_shell(self._shell)
        self._capture.close()
        for fd in self._wiring:
            os.close(fd)

    def _feed(self, order: Order) -> StdinFeed:
        feed = StdinFeed(self._loop, reopen_input(self._wiring.input_read))
        feed.write(order.stdin.encode("utf-8", "replace"))
        if not order.stdin_stays_open:
            feed.end()
        return feed

    def _set_hard_limit(self, order: Order) -> None:
        soft_limit_s = max(order.timeout_s, self._config.command_timeout_s)
        limit_s = HARD_LIMIT_FACTOR * soft_limit_s
        self._hard_limit = self._loop.after(
            limit_s, lambda: self.stop(hints.timed_out(limit_s))
        )

    def _living_shell(self) -> Shell:
        if self._shell is not None and read_process(self._shell.pid) is None:
            self._drop_shell(self._shell)
        if self._shell is not None:
            return self._shell
        rewrite(self._wiring.state, self._state)
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

    def _read_done(self, shell: Shell) -> None:
        try:
            words = os.read(shell.done_read, CHUNK).split()
        except BlockingIOError:
            return
        if not words:
            # Its other end is closed: the shell became another program.
            self._loop.unwatch(shell.done_read)
        elif words[0] == self._word:
            # Whole only now: the shell may be killed while it writes it.
            self._state = read_whole(self._wiring.state)
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
        if self._stopping is None:
            self._end(code, note)
            return
        self._stopping.shell_is_free = True
        self._stopping.check()

    def _stopped(self, note: str) -> None:
        if self._shell is not None and not (
            self._stopping and self._stopping.shell_is_free
        ):
            self._drop_shell(self._shell)
        self._stopping = None
        self._end(None, note if self._shell else f"{note} {hints.RESTARTED}")

    def _end(self, exit_code: int | None, note: str) -> None:
        command, self.command = self.command, None
        if command is None:
            return
        if self._hard_limit is not None:
            self._hard_limit.cancel()
        if command.stdin is not None:
            command.stdin.close()
        output = self._capture.finish()
        self._cwd = self._current_folder()
        notes = [self._note, note, *self._hints(command, exit_code, output.tail())]
        self._note = ""
        command.end(exit_code, self._cwd, " ".join(filter(None, notes)))

    def _hints(self, command: Command, exit_code: int | None, text: str) -> list[str]:
        kills_before, self._memory_kills = self._memory_kills, count_memory_kills()
        found = []
        if exit_code is not None:
            kills = self._memory_kills - kills_before
            limit = self._config.memory_bytes
            found.append(hints.memory_hint(exit_code, text, kills, limit))
        if exit_code is not None and command.stdin is None:
            found.append(hints.prompt_hint(command.order.command, exit_code, text))
        if self._shell is not None:
            found.append(hints.background_hint(find_children(self._shell.pid)))
        return found

    def _current_folder(self) -> str:
        if self._shell is None:
            return self._cwd
        try:
            return os.readlink(f"/proc/{self._shell.pid}/cwd")
        except OSError:
            return self._cwd
