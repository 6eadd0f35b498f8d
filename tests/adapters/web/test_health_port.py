"""The port on which a process tells how it is keeps no connection for ever."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from patchwright.core.system.clock import SystemClock
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.ops.endpoints import Reporter
from patchwright.workers.ops.health import HealthChecks
from patchwright.workers.ops.liveness import MOST_AT_ONCE, health_port
from patchwright.workers.ops.process_metrics import ProcessMetrics
from tests.provision.waiting import wait_until

HOST = "127.0.0.1"


@pytest.fixture
def reporter(tmp_path: Path) -> Iterator[Reporter]:
    clock = SystemClock()
    with closing(Database(f"sqlite:///{tmp_path}/ops.db")) as database:
        upgrade(database)
        health = HealthChecks(database, clock, sweep_s=20).web(lambda: True)
        yield Reporter("web", health, clock, ProcessMetrics().show)


def test_h12_only_so_many_silent_connections_have_a_thread(reporter: Reporter) -> None:
    with health_port(reporter, HOST, 0) as port, ExitStack() as open_:
        for _ in range(MOST_AT_ONCE):
            open_.enter_context(socket.create_connection((HOST, port), 10))
        with socket.create_connection((HOST, port), 10) as one_more:
            assert one_more.recv(1) == b""
        open_.close()
        wait_until(lambda: _answers(port), "a free place", 10)


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://{HOST}:{port}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def test_h12_dripping_does_not_keep_a_connection(reporter: Reporter) -> None:
    with (
        health_port(reporter, HOST, 0, longest_s=0.2) as port,
        socket.create_connection((HOST, port), 10) as way,
    ):
        way.settimeout(0.05)
        wait_until(lambda: _drips_in_vain(way), "the end", 4)


def _drips_in_vain(way: socket.socket) -> bool:
    try:
        way.sendall(b"G")
        return way.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
