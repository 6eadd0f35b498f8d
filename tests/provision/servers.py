"""Run a server for as long as a `with` block lasts."""

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from tests.provision.errors import ProvisionError
from tests.provision.waiting import wait_until

START_S = 30.0
STOP_S = 15.0


@contextmanager
def running(
    argv: Sequence[str], *, log: Path, answers: Callable[[], bool]
) -> Iterator[None]:
    """Start a server, wait until it answers, and end it afterwards.

    It dies with this process too, however that ends, and never holds its output.
    """
    with log.open("ab") as output:
        server = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", *argv],
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_until(
            lambda: _is_alive(server, argv[0], log) and answers(), argv[0], START_S
        )
        yield
    finally:
        _end(server)


def free_port() -> int:
    """Return a port of the loopback interface that nobody uses right now.

    It is none of those that the system gives to whoever connects somewhere: one of
    them could be taken again before a server listens there.
    https://www.kernel.org/doc/html/latest/networking/ip-sysctl.html
    """
    while True:
        port = next(_CANDIDATES)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _candidates() -> Iterator[int]:
    """Go through the range again and again, each process from a place of its own."""
    size = len(_PORTS)
    return (_PORTS[number % size] for number in count(os.getpid() * _STRIDE))


_PORTS = range(15_000, 32_000)
_STRIDE = 97
_CANDIDATES = _candidates()


def log_tail(log: Path, lines: int = 15) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def _is_alive(server: subprocess.Popen[bytes], name: str, log: Path) -> bool:
    if server.poll() is None:
        return True
    raise ProvisionError(f"{name} ended at once:\n{log_tail(log)}")


def _end(server: subprocess.Popen[bytes]) -> None:
    # PostgreSQL takes SIGTERM as "when the last client has gone".
    server.send_signal(signal.SIGINT)
    try:
        server.wait(STOP_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
