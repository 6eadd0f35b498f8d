"""Start the process of a persistent shell with its files in place."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sys
from typing import NamedTuple

from patchwright.sandbox.action_server import shell_script
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.shell_script import Launch
from patchwright.sandbox.action_server.temporary import new_name

FIRST_FREE_FD = 20


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
        output_read, output_write, input_read, _nameless_file(), _nameless_file()
    )


def start_shell(launch: Launch, config: Config, wiring: Wiring, cwd: str) -> Shell:
    go_read, go_write = os.pipe()
    done_read, done_write = os.pipe()
    os.set_blocking(done_read, False)
    try:
        pid = os.fork()
    except OSError:  # too many processes
        for fd in (go_read, go_write, done_read, done_write):
            os.close(fd)
        raise
    if pid == 0:
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
        _become_shell(launch, config, wires, cwd)
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


def _become_shell(
    launch: Launch, config: Config, wires: dict[int, int], cwd: str
) -> None:
    """Turn this forked copy of the server into the shell; it never returns."""
    try:
        os.setsid()
        _restore_signals()
        _limit(config)
        os.chdir(cwd if os.path.isdir(cwd) else config.workspace)
        _move(wires)
        os.execve(launch.path, launch.arguments, launch.environment)  # noqa: S606 - no shell on purpose: this is one
    except BaseException:  # noqa: BLE001 - a second server must not live on
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(126)


def _move(wires: dict[int, int]) -> None:
    # First out of the way: a source may have the number of another's target.
    sources = {
        target: fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD)
        for target, source in wires.items()
    }
    for target, source in sources.items():
        os.dup2(source, target)


def _restore_signals() -> None:
    # Python ignores these, we one more; ignored signals are inherited.
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _limit(config: Config) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if config.max_processes:
        limit = config.max_processes
        resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
    if config.max_data_bytes:
        # Not RLIMIT_AS: some runtimes reserve far more addresses than they ever use.
        limit = config.max_data_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _nameless_file() -> int:
    path = os.path.join("/tmp", new_name())  # noqa: S108 - the name lives for a moment
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return fd
