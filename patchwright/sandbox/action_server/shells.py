"""All shell sessions, and the commands in them by handle."""

from __future__ import annotations

import os
import re
from collections import OrderedDict

from patchwright.sandbox.action_server import hints
from patchwright.sandbox.action_server.command import SendReply, Cancel, RunningCommand, CommandRequest
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.loop import EventLoop
from patchwright.sandbox.action_server.output import LogFolder
from patchwright.sandbox.action_server.session import ShellSession
from patchwright.sandbox.action_server.stopping import SHORT_GRACE_S
from patchwright.sandbox.action_server.wire import ServerRequest

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
        self._commands: OrderedDict[str, tuple[ShellSession, RunningCommand]] = OrderedDict()

    def run(self, request: ServerRequest, answer: SendReply) -> Cancel | None:
        """Run a command; the answer comes at its end or after its soft limit.

        Past the soft limit it runs on until its hard limit: ten times the soft one, or
        ten times the usual one if that is longer.
        """
        session = self._session(request.text("session", "main"))
        if session.command is not None:
            answer(session.command.report_running(hints.BUSY))
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
            text = f"no command runs under the handle {handle!r}; it may have ended"
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
