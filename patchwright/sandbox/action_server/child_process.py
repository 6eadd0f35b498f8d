"""Start a program of the agent's with its own files, variables, signals and limits."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import signal
import sys
from typing import Dict, Iterator, NamedTuple

from patchwright.sandbox.action_server.protocol import Config

_NEVER_ASK = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
    "CI": "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
}
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


# Lines NAME=value that a set-up adds for all that is started after it; the last counts.
ENVIRONMENT_FILE = "environment"
_MOST_ENVIRONMENT = 1 << 16
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def plan_environment(
    config: Config, inherited: dict[str, str], *, takes_additions: bool = True
) -> dict[str, str]:
    """Return the image's own variables, ours over them, and those of the host last.

    What a set-up has added comes after all of them.
    """
    path = os.path.join(config.workspace, ENVIRONMENT_FILE)
    return {
        "PATH": _DEFAULT_PATH,
        "LANG": "C.UTF-8",
        **inherited,
        "HOME": os.path.join(config.workspace, "home"),
        "USER": "patchwright",
        "LOGNAME": "patchwright",
        "WORKSPACE": config.workspace,
        "PATCHWRIGHT_ENV": path,
        **_NEVER_ASK,
        **config.environment,
        **(_read_additions(path) if takes_additions else {}),
    }


def _read_additions(path: str) -> dict[str, str]:
    """Return the variables in the file; lines that are none are passed over."""
    try:
        # Whatever is there by now: neither a link nor a pipe is followed.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return {}
    try:
        text = os.fsdecode(os.read(file, _MOST_ENVIRONMENT))
    except OSError:
        return {}
    finally:
        os.close(file)
    lines = (line.partition("=") for line in text.replace("\0", "").split("\n"))
    return {
        name: value for name, found, value in lines if found and _NAME.fullmatch(name)
    }


def find_program(name: str, path: str) -> str | None:
    candidates = (os.path.join(folder, name) for folder in path.split(":"))
    return next((one for one in candidates if os.access(one, os.X_OK)), None)


FIRST_FREE_FD = 20
NOT_STARTED = 126

# Only after `exec` may a process write its own score; the kernel takes the highest
# first when memory runs out, and that must not be the server.
OFFER_TO_BE_KILLED = "echo 1000 >/proc/self/oom_score_adj; "
_EXECUTE = f'{{ {OFFER_TO_BE_KILLED}}} 2>/dev/null; exec "$@"'

# Python ignores these, we one more; ignored signals are inherited.
_IGNORED_SIGNALS = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)

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
        _exec_program(launch, config, wires, cwd)
    return pid


def spawn_child(launch: Launch, config: Config, wires: Wires) -> int:
    """Return the process number of a program that starts in the server's own folder.

    It costs a third of `start_child`: nothing of the server is copied. Its limits are
    set a moment later, so it must wait for a signal before it does anything.
    """
    sources = _copy_files(wires)
    try:
        pid = os.posix_spawn(
            launch.path,
            launch.arguments,
            launch.environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, source, target)
                for target, source in sources.items()
            ],
            setsid=True,
            setsigdef=_IGNORED_SIGNALS,
        )
    except NotImplementedError:  # a C library without sessions for spawned programs
        return start_child(launch, config, wires, config.workspace)
    finally:
        for source in sources.values():
            os.close(source)
    _limit_other(pid, config)
    return pid


def _limit_other(pid: int, config: Config) -> None:
    try:
        for kind, limit in _limits(config):
            resource.prlimit(pid, kind, (limit, limit))
    except ProcessLookupError:  # it is gone already, which is seen as its end
        return
    except OSError:
        os.kill(pid, signal.SIGKILL)
        raise


def _exec_program(launch: Launch, config: Config, wires: Wires, cwd: str) -> None:
    """Turn this forked copy of the server into the program; it never returns."""
    try:
        os.setsid()
        _restore_signals()
        for kind, limit in _limits(config):
            resource.setrlimit(kind, (limit, limit))
        os.chdir(cwd if os.path.isdir(cwd) else config.workspace)
        _move_files(wires)
        os.execve(launch.path, launch.arguments, launch.environment)  # noqa: S606 - no shell on purpose
    except BaseException:  # noqa: BLE001 - a second server must not live on
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(NOT_STARTED)


def _move_files(wires: Wires) -> None:
    for target, source in _copy_files(wires).items():
        os.dup2(source, target)


def _copy_files(wires: Wires) -> Wires:
    """Return copies of the files: one may have the number of another's target."""
    return {
        target: fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD)
        for target, source in wires.items()
    }


def _restore_signals() -> None:
    for number in _IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def _limits(config: Config) -> Iterator[tuple[int, int]]:
    yield resource.RLIMIT_CORE, 0
    if config.disk_bytes:
        # At once and for each file; all together are watched.
        yield resource.RLIMIT_FSIZE, config.disk_bytes
    if config.max_processes:
        yield resource.RLIMIT_NPROC, config.max_processes
    if config.max_data_bytes:
        # Not RLIMIT_AS: some runtimes reserve far more addresses than they ever use.
        yield resource.RLIMIT_DATA, config.max_data_bytes


# Without the folder it runs in, whose files must not pass for modules of Python.
_START_CODE = (
    "import sys; sys.path[:] = [{archive!r}] + [p for p in sys.path if p]; "
    "from patchwright.sandbox.inside.{name} import main; main()"
)


def plan_inside_program(name: str, words: list[str], config: Config) -> Launch:
    """Return how to start a module of `patchwright.sandbox.inside`.

    It runs like anything else of the agent's: with its packages, variables and rights.
    """
    environment = plan_environment(config, dict(os.environ))
    python = find_program("python3", environment["PATH"]) or sys.executable
    start = _START_CODE.format(archive=_archive(), name=name)
    return plan_program([python, "-u", "-c", start, *words], environment)


def _archive() -> str:
    """Return the file that Python was given, from which this was imported too."""
    return os.path.abspath(sys.argv[0])
