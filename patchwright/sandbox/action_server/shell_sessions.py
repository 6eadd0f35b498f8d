"""All shell sessions: a state that stays, and at most one command at a time in each."""

from __future__ import annotations

import os
import re
import signal
from collections import OrderedDict
from contextlib import suppress

from patchwright.sandbox.action_server import hints, shell_process
from patchwright.sandbox.action_server.command import (
    Cancel,
    CommandRequest,
    RunningCommand,
    SendReply,
)
from patchwright.sandbox.action_server.event_loop import (
    EventLoop,
    StdinFeed,
    Timer,
    reopen_input,
)
from patchwright.sandbox.action_server.output import Capture, LogFolder
from patchwright.sandbox.action_server.processes import (
    GRACE_S,
    SHORT_GRACE_S,
    Process,
    Termination,
    find_children,
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.protocol import (
    ActionError,
    Config,
    ServerRequest,
)
from patchwright.sandbox.action_server.resource_usage import count_memory_kills
from patchwright.sandbox.action_server.shell_process import (
    ShellProcess,
    is_waiting,
    open_shell_files,
    read_whole,
    rewrite,
    start_command,
    start_shell,
)

# How many soft limits a command may live.
HARD_LIMIT_FACTOR = 10
# Sessions of the host, in which nothing that the repository has set may count.
_OWN_SESSIONS = "patchwright"


class ShellSession:
    """Runs commands, each in its own shell that has the state of the one before.

    A shell is a child of this process: its exit code comes from the kernel, and nothing
    that runs in it can change that.
    """

    def __init__(
        self, name: str, loop: EventLoop, config: Config, logs: LogFolder
    ) -> None:
        self._loop = loop
        self._config = config
        self._launch, self._state = shell_process.plan_shell(
            config, dict(os.environ), takes_additions=not name.startswith(_OWN_SESSIONS)
        )
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
        source = shell_process.NO_INPUT
        if order.stdin or order.stdin_stays_open:
            source = shell_process.PIPED_INPUT
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
            self.stop(hints.CANCELLED, SHORT_GRACE_S)
        else:
            self._stopping.escalate()

    def stop(self, note: str, grace_s: float = GRACE_S) -> None:
        """Kill the running command; its waiters get the result when it has ended."""
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
        """Interrupt the command, as Ctrl-C does in a terminal."""
        if self.command is None or self._shell is None:
            return
        for process in find_descendants(self._shell, list_processes()):
            if process.pid not in self.command.older_pids:
                send_signal(process.pid, signal.SIGINT)

    def close(self) -> None:
        """Close the files of an idle session."""
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
        state = shell_process.read_state(read_whole(self._wiring.state))
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

    def _hints(
        self, command: RunningCommand, exit_code: int | None, text: str
    ) -> list[str]:
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


SESSION_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
MAX_SESSIONS = 32
MAX_UNREPORTED = 100
WRITE_WAIT_S = 2.0
# Longer than all the steps of a kill together.
KILL_WAIT_S = 10.0
# Keys that a terminal would translate.
INTERRUPT = "\x03"
END_OF_INPUT = "\x04"


class ShellSessions:
    """Carries out `run_command` and `control_command`."""

    def __init__(self, loop: EventLoop, config: Config) -> None:
        self._loop = loop
        self._config = config
        self._logs = LogFolder(os.path.join(config.workspace, "logs"))
        self._sessions: dict[str, ShellSession] = {}
        self._commands: OrderedDict[str, tuple[ShellSession, RunningCommand]] = (
            OrderedDict()
        )

    def run(self, request: ServerRequest, answer: SendReply) -> Cancel | None:
        """Run a command; the answer comes at its end or after its soft limit.

        Past the soft limit it runs on until its hard limit: ten times the soft one, or
        ten times the usual one if that is longer.
        """
        session = self._session(request.text("session", "main"))
        if session.command is not None:
            running = session.command
            answer(running.report_running(hints.busy(running.order.command)))
            return None
        order = self._order(request)
        command = session.start(order)
        self._remember(session, command)
        command.wait(answer, order.timeout_s)
        return lambda: session.cancel(command)

    def control(self, request: ServerRequest, answer: SendReply) -> Cancel | None:
        """Act on a running command; calling off a poll or a write ends the waiting."""
        handle, act = request.text("handle"), request.text("act")
        session, command = self._find(handle)
        limit_s = self._config.command_timeout_s
        if act == "write":
            limit_s = WRITE_WAIT_S
            self._write(session, command, request.text("text", ""))
        elif act == "kill":
            if command.ending is None:
                session.stop(hints.killed())
            command.wait(answer, KILL_WAIT_S)
            return lambda: session.cancel(command)
        command.wait(answer, request.seconds("timeout_s", limit_s))
        return lambda: command.stop_waiting(answer)

    def stop_all(self, note: str) -> None:
        """Kill what runs in all sessions, and tell why."""
        for session in self._sessions.values():
            session.stop(note, SHORT_GRACE_S)

    def _order(self, request: ServerRequest) -> CommandRequest:
        command = request.text("command")
        if "\0" in command:
            raise ActionError("bad-request", "a command cannot hold a NUL byte")
        return CommandRequest(
            command,
            request.text("stdin", ""),
            request.is_set("interactive"),
            request.seconds("timeout_s", self._config.command_timeout_s),
        )

    def _session(self, name: str) -> ShellSession:
        if not SESSION_NAME.fullmatch(name):
            raise ActionError("bad-request", "a session name is letters and digits")
        session = self._sessions.pop(name, None)
        if session is None:
            self._make_room()
            session = ShellSession(name, self._loop, self._config, self._logs)
        # At the end stands the session that was used last.
        self._sessions[name] = session
        return session

    def _make_room(self) -> None:
        """Give up the idle session that was not used for longest."""
        if len(self._sessions) < MAX_SESSIONS:
            return
        for name, session in self._sessions.items():
            if session.command is None:
                session.close()
                del self._sessions[name]
                return
        raise ActionError("bad-request", "all sessions are busy; kill a command first")

    def _remember(self, session: ShellSession, command: RunningCommand) -> None:
        for handle, (_, old) in list(self._commands.items()):
            if old.is_reported or len(self._commands) > MAX_UNREPORTED:
                del self._commands[handle]
        self._commands[command.handle] = (session, command)

    def _find(self, handle: str) -> tuple[ShellSession, RunningCommand]:
        found = self._commands.get(handle)
        if found is None or found[1].is_reported:
            text = f"no command runs under the handle {handle!r}: it has ended"
            raise ActionError("no-such-command", text)
        return found

    def _write(self, session: ShellSession, command: RunningCommand, text: str) -> None:
        if text == INTERRUPT:
            session.interrupt()
            return
        if command.stdin is None or not command.stdin.is_open:
            text = "its standard input is closed; start it with `interactive` set"
            raise ActionError("stdin-closed", text)
        if text == END_OF_INPUT:
            command.stdin.end()
        else:
            command.stdin.write(text.encode("utf-8", "replace"))
