"""The programs that exchange lines with the host, by name."""

from __future__ import annotations

import itertools
import os
import signal
from collections import deque
from typing import Callable, NamedTuple

from patchwright.sandbox.action_server.child_process import (
    Launch,
    plan_environment,
    plan_program,
    start_child,
)
from patchwright.sandbox.action_server.command import SendReply
from patchwright.sandbox.action_server.event_loop import EventLoop, StdinFeed, Timer
from patchwright.sandbox.action_server.processes import (
    SHORT_GRACE_S,
    Termination,
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.protocol import (
    ActionError,
    Config,
    LineBuffer,
    Reply,
    ServerRequest,
    error,
)

MAX_LINE_BYTES = 4 << 20
# Lines that nobody has asked for; a program that writes more has to wait.
MAX_WAITING_BYTES = 2 * MAX_LINE_BYTES
CHUNK = 1 << 16
LAST_WORDS = 2000


class _Ends(NamedTuple):
    """Our ends of a program's three pipes; none of them blocks."""

    input: int
    output: int
    errors: int


class LineProgram:
    """Runs until it ends or is closed; its lines are kept for `read`."""

    def __init__(
        self, loop: EventLoop, config: Config, launch: Launch, cwd: str
    ) -> None:
        self._loop = loop
        self._lines = LineBuffer()
        self._ready: deque[bytes] = deque()
        self._ready_bytes = 0
        self._readers: deque[tuple[SendReply, Timer]] = deque()
        self._words = b""
        self._failure: Reply | None = None
        self._is_watched = False
        self._pid, ends = _start(launch, config, cwd)
        self._output, self._errors = ends.output, ends.errors
        self._stdin = StdinFeed(loop, ends.input)
        loop.on_exit(self._pid, self._exited)
        loop.watch_read(self._errors, self._read_errors)
        self._watch_output()

    def write(self, line: str) -> None:
        if self._failure is not None:
            raise ActionError("ended", str(self._failure["text"]))
        if not self._stdin.is_open:
            raise ActionError("stdin-closed", "the program has closed its input")
        if self._stdin.waiting_bytes > MAX_WAITING_BYTES:
            raise ActionError("stdin-full", "the program does not read its input")
        self._stdin.write(line.encode("utf-8", "replace") + b"\n")

    def read(self, answer: SendReply, timeout_s: float) -> None:
        """Answer with the next line, with none after a time, or with how it ended."""
        if self._ready:
            answer(self._next_line())
        elif self._failure is not None:
            answer(self._failure)
        else:
            timer = self._loop.after(timeout_s, lambda: self._time_out(answer))
            self._readers.append((answer, timer))

    def close(self, closed: Callable[[], None]) -> None:
        """End the program and all its processes, and call back when they are gone."""
        self._stdin.close()
        if self._failure is not None:
            closed()
            return
        nobody: frozenset[int] = frozenset()
        stopping = Termination(self._loop, self._pid, nobody, closed, SHORT_GRACE_S)
        stopping.begin()

    def _next_line(self) -> Reply:
        line = self._ready.popleft()
        self._ready_bytes -= len(line)
        self._watch_output()
        return {"kind": "line", "line": line.decode("utf-8", "replace")}

    def _time_out(self, answer: SendReply) -> None:
        self._readers = deque(one for one in self._readers if one[0] is not answer)
        answer({"kind": "nothing"})

    def _watch_output(self) -> None:
        has_room = self._failure is None and self._ready_bytes < MAX_WAITING_BYTES
        if has_room and not self._is_watched:
            self._loop.watch_read(self._output, self._read_output)
        elif self._is_watched and not has_room:
            self._loop.unwatch(self._output)
        self._is_watched = has_room

    def _read_output(self) -> None:
        data = _read_some(self._output)
        if data == b"":
            # The exit code of a program that closed its output is known only when it
            # ends.
            self._loop.unwatch(self._output)
            return
        self._take_in(data or b"")
        if self._lines.waiting_bytes > MAX_LINE_BYTES:
            self._fail("it wrote a line of more than 4 MiB")
            send_signal(self._pid, signal.SIGKILL)
        self._watch_output()

    def _take_in(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._ready.append(line)
            self._ready_bytes += len(line)
        while self._ready and self._readers:
            answer, timer = self._readers.popleft()
            timer.cancel()
            answer(self._next_line())

    def _read_errors(self) -> None:
        data = _read_some(self._errors)
        if data == b"":
            self._loop.unwatch(self._errors)
        self._words = (self._words + (data or b""))[-LAST_WORDS:]

    def _exited(self, code: int) -> None:
        # A pipe holds no more than a chunk, and nobody writes to it after this.
        for process in find_descendants(self._pid, list_processes()):
            send_signal(process.pid, signal.SIGKILL)
        self._read_errors()
        self._take_in(_read_some(self._output) or b"")
        if self._lines.rest():
            self._take_in(b"\n")
        self._fail(f"exit code {code}")
        self._stdin.close()
        for fd in (self._output, self._errors):
            self._loop.unwatch(fd)
            os.close(fd)

    def _fail(self, why: str) -> None:
        if self._failure is not None:
            return
        words = self._words.decode("utf-8", "replace").strip()
        last_words = f" Its last words: {words}" if words else ""
        self._failure = error("ended", f"the program has ended: {why}.{last_words}")
        readers, self._readers = self._readers, deque()
        for answer, timer in readers:
            timer.cancel()
            answer(self._failure)


def _start(launch: Launch, config: Config, cwd: str) -> tuple[int, _Ends]:
    input_read, input_write = os.pipe()
    output_read, output_write = os.pipe()
    errors_read, errors_write = os.pipe()
    ours = _Ends(input_write, output_read, errors_read)
    theirs = {0: input_read, 1: output_write, 2: errors_write}
    try:
        pid = start_child(launch, config, theirs, cwd)
    except OSError:  # too many processes
        for fd in ours:
            os.close(fd)
        raise
    finally:
        for fd in theirs.values():
            os.close(fd)
    for fd in ours:
        os.set_blocking(fd, False)
    return pid, ours


def _read_some(fd: int) -> bytes | None:
    """Return what there is, nothing at the end, or None while there is nothing."""
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:
        return None


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
