"""Commands that start at once: forked from a process that has imported everything.

Each is a process of its own, with its own arguments, environment, folder, streams,
signals and exit status, as one is that begins with Python's start, which takes seconds.

`python -m tests.provision.starter` serves the socket that is its standard input: a JSON
object for each command, with the files that become its streams and a socket to tell its
process id by, and at its end its exit status.
"""

import atexit
import gc
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from runpy import run_module
from typing import IO, NoReturn

import patchwright
from patchwright.core.llm.library import load_litellm
from patchwright.core.settings.environment import process_environment
from patchwright.sandbox.host.bootstrap import (
    pack_action_server,
    pack_proxy,
    pack_transfer_program,
)

ROOT = Path(__file__).parents[2]
[PATCHWRIGHT] = entry_points(group="console_scripts", name="patchwright")
SIZE = 1 << 16
STREAMS = 3
# What litellm's import sets for whoever imports it.
KEPT = "LITELLM_"
# What litellm imports at its first call.
LATE = ("litellm.proxy._types", "litellm.main", "httpcore", "rich.status")


@dataclass
class Started:
    """A command that runs or has ended, to use like `subprocess.Popen`."""

    args: Sequence[str]
    pid: int
    told: socket.socket
    returncode: int | None = None

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status; raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            self.told.settimeout(timeout)
            try:
                self.returncode = int(_read_line(self.told))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self.told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@dataclass(frozen=True)
class Starter:
    """The process that forks; whoever starts a command ends it or waits for its end."""

    process: "subprocess.Popen[bytes]"
    requests: socket.socket

    def start(
        self,
        *arguments: str,
        cwd: Path,
        env: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
        module: str = "",
    ) -> Started:
        """Start `patchwright`, or a module's program; return when it runs."""
        here, there = socket.socketpair()
        request = {
            "arguments": arguments,
            "cwd": str(cwd),
            "environment": dict(env),
            "module": module,
        }
        files = [stream.fileno() for stream in (stdin, stdout, stderr, there)]
        with there:
            socket.send_fds(self.requests, [json.dumps(request).encode()], files)
        return Started(arguments, int(_read_line(here)), here)

    def start_module(self, module: str, *arguments: str) -> Started:
        """Start what `python -m` would, with our variables and output."""
        with (
            Path(os.devnull).open("rb") as stdin,
            os.fdopen(os.dup(1), "wb") as stdout,
            os.fdopen(os.dup(2), "wb") as stderr,
        ):
            return self.start(
                *arguments,
                module=module,
                cwd=ROOT,
                env=process_environment(),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )

    def run(
        self,
        *arguments: str,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        typed: str = "",
    ) -> "subprocess.CompletedProcess[str]":
        """Run `patchwright` to its end, with what it finds on its standard input."""
        with ExitStack() as stack:
            stdin, *outputs = (
                stack.enter_context(tempfile.TemporaryFile()) for _ in range(STREAMS)
            )
            stdin.write(typed.encode())
            stdin.seek(0)
            out, err = outputs
            started = self.start(
                *arguments, cwd=cwd, env=env, stdin=stdin, stdout=out, stderr=err
            )
            stack.callback(started.kill)
            status = started.wait(timeout)
            for output in outputs:
                output.seek(0)
            texts = [output.read().decode() for output in outputs]
        return subprocess.CompletedProcess(arguments, status, *texts)


@cache
def ready_starter() -> Starter:
    """Start the process that forks, when first asked. All that it started ends with us.

    It learns of our end from its socket, which is closed however that comes.
    """
    here, there = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with there:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            env={"PATH": process_environment()["PATH"]},
            stdin=there.fileno(),
            start_new_session=True,
        )
    atexit.register(_end, process, here)
    return Starter(process, here)


def _end(process: "subprocess.Popen[bytes]", requests: socket.socket) -> None:
    requests.close()
    process.wait()


def _read_line(told: socket.socket) -> bytes:
    """Read what is one line, byte by byte since none of the next may be taken."""
    line = b""
    while not line.endswith(b"\n"):
        byte = told.recv(1)
        if not byte:
            raise EOFError("the process that starts commands has ended")
        line += byte
    return line


@dataclass(frozen=True)
class _Request:
    arguments: list[str]
    cwd: str
    environment: dict[str, str]
    module: str = ""


@dataclass(frozen=True)
class _Parent:
    """Forks for whoever asks, and tells of each child's end."""

    requests: socket.socket
    children: dict[int, socket.socket] = field(default_factory=dict)

    def serve(self) -> "tuple[_Request, list[int]] | None":
        """Return in a child with what it is to be, or nothing when nobody asks more."""
        with selectors.DefaultSelector() as ready:
            ended, wake = socket.socketpair()
            with ended, wake:
                for one in (ended, wake):
                    one.setblocking(False)
                signal.set_wakeup_fd(wake.fileno())
                signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
                ready.register(self.requests, selectors.EVENT_READ)
                ready.register(ended, selectors.EVENT_READ)
                try:
                    return self._serve(ready, ended)
                finally:
                    signal.set_wakeup_fd(-1)

    def _serve(
        self, ready: selectors.BaseSelector, ended: socket.socket
    ) -> "tuple[_Request, list[int]] | None":
        while True:
            for key, _ in ready.select():
                if key.fileobj is ended:
                    ended.recv(SIZE)
                    self._tell()
                    continue
                message, files, _, _ = socket.recv_fds(
                    self.requests, 4 * SIZE, STREAMS + 1
                )
                if not message:
                    self._end()
                    return None
                request = _Request(**json.loads(message))
                if self._fork(files):
                    return request, files[:STREAMS]

    def _fork(self, files: list[int]) -> bool:
        """Fork; say whether this is the child."""
        *streams, told = files
        pid = os.fork()
        if pid == 0:
            self.requests.close()
            for child in self.children.values():
                child.close()
            os.close(told)
            return True
        for stream in streams:
            os.close(stream)
        self.children[pid] = socket.socket(fileno=told)
        self.children[pid].sendall(f"{pid}\n".encode())
        return False

    def _tell(self) -> None:
        while self.children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self.children.pop(pid) as told, suppress(OSError):
                told.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())

    def _end(self) -> None:
        for pid in self.children:
            os.kill(pid, signal.SIGKILL)


def import_everything() -> None:
    """Import and make all that a process of ours needs, for those forked from it."""
    # As in `tests/conftest.py`: an installation does not have it.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    gc.disable()
    load_litellm()
    ours = pkgutil.walk_packages(patchwright.__path__, "patchwright.")
    for name in (*LATE, *(module.name for module in ours)):
        if not name.endswith("__main__"):
            import_module(name)
    # Each process makes them once.
    for pack in (pack_action_server, pack_transfer_program, pack_proxy):
        pack()
    gc.freeze()
    gc.enable()


def _become(request: _Request, files: list[int]) -> None:
    """Make of this process what a new one would be."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(
        2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    os.chdir(request.cwd)
    variables = os.environ  # noqa: TID251 - it is another process's from here on
    for name in list(variables):
        if not name.startswith(KEPT):
            del variables[name]
    variables.update(request.environment)
    time.tzset()
    tempfile.tempdir = None
    sys.argv = ["patchwright", *request.arguments]


def _main() -> NoReturn:
    with socket.socket(fileno=os.dup(0)) as requests:
        import_everything()
        work = _Parent(requests).serve()
    if work is None:
        os._exit(0)
    request, files = work
    _become(request, files)
    if request.module:
        run_module(request.module, run_name="__main__")
        sys.exit(0)
    sys.exit(PATCHWRIGHT.load()())


if __name__ == "__main__":
    _main()
