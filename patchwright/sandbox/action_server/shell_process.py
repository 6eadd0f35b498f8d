"""Start the process of a persistent shell with its files in place."""

from __future__ import annotations

import os
from typing import NamedTuple

from patchwright.sandbox.action_server import shell_script
from patchwright.sandbox.action_server.child import Launch, start_child
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.temporary import new_name


class Wiring(NamedTuple):
    """The files of a session that stay when its shell has to be started again."""

    output_read: int
    output_write: int
    input_read: int
    command: int
    state: int


class Shell(NamedTuple):
    """A running shell: write to `go` to start a command, read `done` for its end."""

    pid: int
    go_write: int
    done_read: int


def lay_wires() -> Wiring:
    output_read, output_write = os.pipe()
    input_read, input_write = os.pipe()
    os.close(input_write)
    os.set_blocking(output_read, False)
    os.set_blocking(input_read, False)
    return Wiring(
        output_read, output_write, input_read, nameless_file(), nameless_file()
    )


def start_shell(launch: Launch, config: Config, wiring: Wiring, cwd: str) -> Shell:
    go_read, go_write = os.pipe()
    done_read, done_write = os.pipe()
    os.set_blocking(done_read, False)
    wires = {
        # Its own words (a trace, say) are nobody's; a command's go to OUTPUT_FD.
        2: 0,
        shell_script.STATE_FD: wiring.state,
        shell_script.OUTPUT_FD: wiring.output_write,
        shell_script.INPUT_FD: wiring.input_read,
        shell_script.DONE_FD: done_write,
        shell_script.GO_FD: go_read,
        shell_script.COMMAND_FD: wiring.command,
    }
    try:
        pid = start_child(launch, config, wires, cwd)
    except OSError:  # too many processes
        for fd in (go_read, go_write, done_read, done_write):
            os.close(fd)
        raise
    os.close(go_read)
    os.close(done_write)
    return Shell(pid, go_write, done_read)


def rewrite(fd: int, data: bytes) -> None:
    """Replace what a file holds."""
    os.ftruncate(fd, 0)
    position = 0
    while position < len(data):
        position += os.pwrite(fd, data[position:], position)


def read_whole(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


def nameless_file() -> int:
    path = os.path.join("/tmp", new_name())  # noqa: S108 - the name lives for a moment
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return fd
