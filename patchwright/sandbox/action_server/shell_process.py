"""Start the shell of one command, with its files in place, and let it run."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from patchwright.sandbox.action_server import shell_script
from patchwright.sandbox.action_server.child import Launch, spawn_child
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.temporary import new_name


class ShellFiles(NamedTuple):
    """The files of a session, which its shells get one after the other."""

    output_read: int
    output_write: int
    input_read: int
    command: int
    state: int
    variables: int


class ShellProcess(NamedTuple):
    """A shell that waits for its turn, and ends when `go_write` is closed before."""

    pid: int
    go_write: int


def open_shell_files() -> ShellFiles:
    output_read, output_write = os.pipe()
    input_read, input_write = os.pipe()
    os.close(input_write)
    os.set_blocking(output_read, False)
    os.set_blocking(input_read, False)
    files = (create_unnamed_file() for _ in range(3))
    return ShellFiles(output_read, output_write, input_read, *files)


def start_shell(launch: Launch, config: Config, wiring: ShellFiles) -> ShellProcess:
    """Return a shell that waits until `go` is called."""
    go_read, go_write = os.pipe()
    wires = {
        1: wiring.output_write,
        2: wiring.output_write,
        shell_script.STATE_FD: wiring.state,
        shell_script.VARIABLES_FD: wiring.variables,
        shell_script.INPUT_FD: wiring.input_read,
        shell_script.GO_FD: go_read,
        shell_script.COMMAND_FD: wiring.command,
    }
    try:
        pid = spawn_child(launch, config, wires)
    except OSError:  # too many processes
        os.close(go_write)
        raise
    finally:
        os.close(go_read)
    return ShellProcess(pid, go_write)


def start_command(shell: ShellProcess, source: str) -> None:
    """Have the shell run the command, with its input from there."""
    # One that was killed while it waited is seen to end, like any other.
    with suppress(BrokenPipeError):
        os.write(shell.go_write, source.encode() + b"\n")
    os.close(shell.go_write)


def is_waiting(shell: ShellProcess) -> bool:
    """Tell whether it lives; a command that ran meanwhile may have killed it."""
    try:
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, shell.pid, how) is None
    except ChildProcessError:
        return False


def rewrite(fd: int, data: bytes) -> None:
    """Replace what a file holds."""
    os.ftruncate(fd, 0)
    position = 0
    while position < len(data):
        position += os.pwrite(fd, data[position:], position)


def read_whole(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


def create_unnamed_file() -> int:
    path = os.path.join("/tmp", new_name())  # noqa: S108 - the name lives for a moment
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return fd
