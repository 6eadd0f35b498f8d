"""Start a program of the agent's: files, signals and limits are not the server's."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sys
from typing import Dict, NamedTuple

from patchwright.sandbox.action_server.configuration import Config

FIRST_FREE_FD = 20
NOT_STARTED = 126

# Only after `exec` may a process write its own score; the kernel takes the highest
# first when memory runs out, and that must not be the server.
OFFER_TO_BE_KILLED = "echo 1000 >/proc/self/oom_score_adj; "
_EXECUTE = f'{{ {OFFER_TO_BE_KILLED}}} 2>/dev/null; exec "$@"'

# The number a file has in the program, and the number it has here.
Wires = Dict[int, int]


class Launch(NamedTuple):
    """How to start a program."""

    path: str
    arguments: list[str]
    environment: dict[str, str]


def plan_program(words: list[str], environment: dict[str, str]) -> Launch:
    """Return how to start a command that is looked for in PATH."""
    return Launch("/bin/sh", ["sh", "-c", _EXECUTE, "sh", *words], environment)


def start_child(launch: Launch, config: Config, wires: Wires, cwd: str) -> int:
    """Return the process number of a program that leads a session of its own.

    Raises OSError when there are too many processes.
    """
    pid = os.fork()
    if pid == 0:
        _become(launch, config, wires, cwd)
    return pid


def _become(launch: Launch, config: Config, wires: Wires, cwd: str) -> None:
    """Turn this forked copy of the server into the program; it never returns."""
    try:
        os.setsid()
        _restore_signals()
        _limit(config)
        os.chdir(cwd if os.path.isdir(cwd) else config.workspace)
        _move(wires)
        os.execve(launch.path, launch.arguments, launch.environment)  # noqa: S606 - no shell on purpose
    except BaseException:  # noqa: BLE001 - a second server must not live on
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(NOT_STARTED)


def _move(wires: Wires) -> None:
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
    if config.disk_bytes:
        # At once and for each file; all together are watched.
        limit = config.disk_bytes
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if config.max_processes:
        limit = config.max_processes
        resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
    if config.max_data_bytes:
        # Not RLIMIT_AS: some runtimes reserve far more addresses than they ever use.
        limit = config.max_data_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
