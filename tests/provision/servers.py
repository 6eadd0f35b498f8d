"""Run a server for as long as a `with` block lasts."""

import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
    """Return a port of the loopback interface that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


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
