"""Who is connected when the server ends is answered: a proxy would not ask again."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from fastapi import FastAPI

from patchwright.core.system.clock import SystemClock
from patchwright.workers.web.server import (
    GRACE_S,
    Connections,
    TimedServer,
    make_server,
)
from tests.provision.waiting import wait_until

REQUEST = b"POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
PATIENCE_S = 10


def make_app() -> FastAPI:
    app = FastAPI()

    @app.post("/hook")
    async def hook() -> str:
        return "stored"

    return app


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@contextmanager
def running(server: uvicorn.Server, listener: socket.socket) -> Iterator[None]:
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        wait_until(lambda: server.started, "the server", PATIENCE_S)
        yield
    finally:
        server.should_exit = True
        thread.join()


def connect(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=PATIENCE_S)


def is_closed(address: tuple[str, int]) -> bool:
    try:
        connect(address).close()
    except ConnectionRefusedError:
        return True
    return False


def ask(client: socket.socket) -> bytes:
    """Return all that comes back until the other side ends."""
    client.sendall(REQUEST)
    answer = b""
    while part := client.recv(4096):
        answer += part
    return answer


def test_who_has_said_nothing_yet_may_still_ask(listener: socket.socket) -> None:
    address = listener.getsockname()
    server = make_server(make_app(), *address)
    with running(server, listener), connect(address) as client:
        wait_until(lambda: bool(server.server_state.connections), "it", PATIENCE_S)
        server.should_exit = True
        wait_until(lambda: is_closed(address), "the end of listening", PATIENCE_S)
        assert b"200 OK" in ask(client)


def test_who_goes_on_saying_nothing_does_not_hold_up_the_end(
    listener: socket.socket,
) -> None:
    address = listener.getsockname()
    server = make_server(make_app(), *address)
    with running(server, listener), connect(address) as client:
        wait_until(lambda: bool(server.server_state.connections), "it", PATIENCE_S)
        server.should_exit = True
        client.settimeout(GRACE_S + 2)
        assert client.recv(1) == b""


class LeavingServer(TimedServer):
    """Ends as it begins, and somebody comes in that moment."""

    client: socket.socket | None = None

    async def on_tick(self, _counter: int) -> bool:
        # Nothing of the event loop runs between this and the end.
        self.client = connect((self.config.host, self.config.port))
        return True


def test_who_stands_at_the_door_is_let_in(listener: socket.socket) -> None:
    made = make_server(make_app(), *listener.getsockname())
    server = LeavingServer(made.config, Connections(2, SystemClock().monotonic))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    wait_until(lambda: server.client is not None, "a client", PATIENCE_S)
    assert server.client is not None
    with server.client as client:
        assert b"200 OK" in ask(client)
    thread.join()
