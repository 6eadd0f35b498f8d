"""Start the process of the lasting Python with its files in place."""

from __future__ import annotations

import os
from typing import NamedTuple

from patchwright.sandbox.action_server.child import start_child
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.program import plan_inside_program
from patchwright.sandbox.action_server.shell_process import create_unnamed_file

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
