"""The one Python session of a sandbox: an interpreter whose variables last."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from patchwright.sandbox.action_server import hints
from patchwright.sandbox.action_server.child_process import (
    plan_inside_program,
    start_child,
)
from patchwright.sandbox.action_server.command import Cancel, SendReply
from patchwright.sandbox.action_server.event_loop import EventLoop, Timer
from patchwright.sandbox.action_server.output import Capture, LogFolder, Output
from patchwright.sandbox.action_server.processes import (
    SHORT_GRACE_S,
    Termination,
    list_pids,
    read_process,
)
from patchwright.sandbox.action_server.protocol import (
    ActionError,
    Config,
    ServerRequest,
    error,
)
from patchwright.sandbox.action_server.resource_usage import count_memory_kills
from patchwright.sandbox.action_server.shell_process import create_unnamed_file, rewrite

# The files that `patchwright.sandbox.inside.interpreter` finds.
CODE_FD = 3
GO_FD = 4
DONE_FD = 5


class PythonFiles(NamedTuple):
    """The files that stay when the interpreter has to be started again."""

    output_read: int
    output_write: int
    code: int


class PythonProcess(NamedTuple):
    """A running interpreter: write to `go` to have it run what the code file holds."""

    pid: int
    go_write: int
    done_read: int


def open_python_files() -> PythonFiles:
    output_read, output_write = os.pipe()
    os.set_blocking(output_read, False)
    return PythonFiles(output_read, output_write, create_unnamed_file())


def start_python(config: Config, wires: PythonFiles) -> PythonProcess:
    launch = plan_inside_program("interpreter", [], config)
    go_read, go_write = os.pipe()
    done_read, done_write = os.pipe()
    os.set_blocking(done_read, False)
    files = {
        0: 0,
        1: wires.output_write,
        2: wires.output_write,
        CODE_FD: wires.code,
        GO_FD: go_read,
        DONE_FD: done_write,
    }
    try:
        pid = start_child(launch, config, files, os.path.join(config.workspace, "repo"))
    except OSError:  # too many processes
        for fd in (go_write, done_read):
            os.close(fd)
        raise
    finally:
        os.close(go_read)
        os.close(done_write)
    return PythonProcess(pid, go_write, done_read)


def close_python(python: PythonProcess) -> None:
    os.close(python.go_write)
    os.close(python.done_read)


# What KeyboardInterrupt gets to unwind before the interpreter itself is ended.
UNWIND_S = 2.0
LAST_OUTPUT = 2000


class PythonCell(NamedTuple):
    """A piece of code that runs. `older` processes are not its own."""

    answer: SendReply
    word: bytes
    older: frozenset[int]
    limit: Timer
    began: float
    memory_kills: int


class PythonSession:
    """Starts Python when it is first needed, and again after its end."""

    def __init__(self, loop: EventLoop, config: Config) -> None:
        self._loop = loop
        self._config = config
        self._wires = open_python_files()
        logs = LogFolder(os.path.join(config.workspace, "logs"))
        # No shell session can have this name.
        self._capture = Capture("python.cell", self._wires.output_read, loop, logs)
        self._python: PythonProcess | None = None
        self._cell: PythonCell | None = None
        self._stopping: Termination | None = None
        self._note = ""

    def run(self, request: ServerRequest, answer: SendReply) -> Cancel:
        """Run code; past its time limit it is interrupted."""
        if self._cell is not None:
            raise ActionError("busy", hints.PYTHON_BUSY)
        code = request.text("code").encode("utf-8", "replace")
        limit_s = request.seconds("timeout_s", self._config.command_timeout_s)
        python = self._living_python()
        rewrite(self._wires.code, code)
        cell = PythonCell(
            answer=answer,
            word=os.urandom(8).hex().encode(),
            older=list_pids(),
            limit=self._loop.after(
                limit_s, lambda: self._stop(hints.interrupted(limit_s), UNWIND_S)
            ),
            began=time.monotonic(),
            memory_kills=count_memory_kills(),
        )
        self._cell = cell
        os.write(python.go_write, cell.word + b"\n")
        return lambda: self._cancel_cell(cell)

    def _cancel_cell(self, cell: PythonCell) -> None:
        if self._cell is not cell:
            return
        if self._stopping is None:
            self._stop(hints.PYTHON_CANCELLED, SHORT_GRACE_S)
        else:
            self._stopping.escalate()

    def _stop(self, note: str, grace_s: float) -> None:
        """Interrupt the code and, if that does not help, end the interpreter."""
        if self._cell is None or self._python is None or self._stopping is not None:
            return
        self._stopping = Termination(
            self._loop,
            self._python.pid,
            self._cell.older,
            lambda: self._stopped(note),
            grace_s,
        )
        self._stopping.begin()

    def _living_python(self) -> PythonProcess:
        if self._python is not None and read_process(self._python.pid) is None:
            self._drop(self._python)
            self._note = hints.PYTHON_RESTARTED
        if self._python is not None:
            return self._python
        python = start_python(self._config, self._wires)
        self._loop.watch_read(python.done_read, lambda: self._read_done(python))
        self._loop.on_exit(python.pid, lambda code: self._exited(python, code))
        self._python = python
        return python

    def _drop(self, python: PythonProcess) -> None:
        self._loop.unwatch(python.done_read)
        close_python(python)
        self._python = None

    def _read_done(self, python: PythonProcess) -> None:
        try:
            data = os.read(python.done_read, 4096)
        except BlockingIOError:
            return
        if not data:
            self._loop.unwatch(python.done_read)
        for line in data.splitlines():
            word, _, rest = line.partition(b" ")
            if word == b"ready":
                self._note = f"{self._note} {rest.decode()}".strip()
            elif self._cell is not None and word == self._cell.word:
                self._finished(failed=rest == b"1")

    def _finished(self, *, failed: bool) -> None:
        if self._stopping is None:
            self._answer("", failed=failed)
            return
        self._stopping.shell_is_free = True
        self._stopping.check()

    def _stopped(self, note: str) -> None:
        stopping, self._stopping = self._stopping, None
        if self._python is not None and not (stopping and stopping.shell_is_free):
            self._drop(self._python)
        lost = "" if self._python else hints.PYTHON_RESTARTED
        self._answer(f"{note} {lost}".strip(), failed=True)

    def _exited(self, python: PythonProcess, code: int) -> None:
        if self._python is not python:
            return
        # The code may have ended just before the interpreter did.
        self._read_done(python)
        self._drop(python)
        if self._cell is None:
            self._note = hints.PYTHON_RESTARTED
        elif self._stopping is None:
            self._crashed(self._cell, code)

    def _crashed(self, cell: PythonCell, code: int) -> None:
        output = self._end(cell)
        printed = output.take().text[-LAST_OUTPUT:]
        output.close()
        kills = count_memory_kills() - cell.memory_kills
        memory = hints.memory_hint(code, printed, kills, self._config.memory_bytes)
        self._note = ""
        text = hints.python_crashed(code, memory, printed)
        cell.answer(error("interpreter-ended", text))

    def _answer(self, note: str, *, failed: bool) -> None:
        cell = self._cell
        if cell is None:
            return
        output = self._end(cell)
        excerpt = output.take()
        output.close()
        whole = hints.whole_output(excerpt.full_path)
        notes, self._note = (self._note, note, whole), ""
        cell.answer(
            {
                "kind": "ipython_output",
                "output": excerpt.text,
                "failed": failed,
                "duration_ms": round((time.monotonic() - cell.began) * 1000),
                "dropped_bytes": excerpt.dropped_bytes,
                "note": " ".join(filter(None, notes)),
            }
        )

    def _end(self, cell: PythonCell) -> Output:
        cell.limit.cancel()
        self._cell = None
        return self._capture.finish()
