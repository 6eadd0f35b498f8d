"""The programs that the host speaks to in lines, by name."""

from __future__ import annotations

import itertools
import os

from patchwright.sandbox.action_server.child import plan_program
from patchwright.sandbox.action_server.command import SendReply
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.environment import plan_environment
from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.line_program import LineProgram
from patchwright.sandbox.action_server.loop import EventLoop
from patchwright.sandbox.action_server.wire import ServerRequest

MAX_PIPES = 32


class LinePrograms:
    """Carries out what the host asks of a program; see `core.runtime.Pipe`."""

    def __init__(self, loop: EventLoop, config: Config) -> None:
        self._loop = loop
        self._config = config
        self._programs: dict[str, LineProgram] = {}
        self._numbers = itertools.count(1)

    def open(self, request: ServerRequest, answer: SendReply) -> None:
        command = request.texts("command")
        if not command or "\0" in "".join(command):
            raise ActionError("bad-request", "`command` must name a program")
        if len(self._programs) >= MAX_PIPES:
            raise ActionError("too-many", f"{MAX_PIPES} programs are open already")
        environment = plan_environment(self._config, dict(os.environ))
        launch = plan_program(command, environment)
        cwd = os.path.join(self._config.workspace, "repo")
        name = f"pipe-{next(self._numbers)}"
        self._programs[name] = LineProgram(self._loop, self._config, launch, cwd)
        answer({"kind": "opened", "pipe": name})

    def write(self, request: ServerRequest, answer: SendReply) -> None:
        self._find(request).write(request.text("line"))
        answer({"kind": "written"})

    def read(self, request: ServerRequest, answer: SendReply) -> None:
        self._find(request).read(answer, request.seconds("timeout_s", 0.0))

    def close(self, request: ServerRequest, answer: SendReply) -> None:
        program = self._programs.pop(request.text("pipe"), None)
        if program is None:
            answer({"kind": "closed"})
        else:
            program.close(lambda: answer({"kind": "closed"}))

    def close_all(self) -> None:
        """End what was opened for a host that is gone."""
        programs, self._programs = self._programs, {}
        for program in programs.values():
            program.close(lambda: None)

    def _find(self, request: ServerRequest) -> LineProgram:
        name = request.text("pipe")
        program = self._programs.get(name)
        if program is None:
            raise ActionError("ended", f"no program runs under the name {name!r}")
        return program
