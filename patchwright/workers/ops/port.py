"""A port of its own on which a process tells how it is."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from time import monotonic
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import structlog

from patchwright.workers.listening import ListenAddress, listen
from patchwright.workers.ops.access import ListenerKind
from patchwright.workers.ops.reporter import StatusAnswer, StatusRequest, Reporter

# For who connects and says nothing, and for all that one connection takes.
_IDLE_TIMEOUT_S: Final = 5.0
_LONGEST_CONNECTION_S: Final = 10.0
# Each takes a thread: more are turned away.
MOST_AT_ONCE: Final = 32
_POLL_S: Final = 0.05
_FIX_PORT: Final = (
    "each process needs a port of its own there: set PATCHWRIGHT_TELEMETRY__PORT"
)

# As the standard library's stubs say it.
AcceptedRequest: TypeAlias = socket.socket | tuple[bytes, socket.socket]
Peer: TypeAlias = Any

log = structlog.get_logger(__name__)


@contextmanager
def health_port(
    reporter: Reporter, host: str, port: int, longest_s: float = _LONGEST_CONNECTION_S
) -> Iterator[int]:
    """Answer in threads until the context is left; yields the port.

    Raises what `listen` does.
    """
    listening = listen(ListenAddress("telemetry", host, port, _FIX_PORT))
    number = int(listening.getsockname()[1])
    log.info("telemetry_listening", host=host, port=number)
    with _server(reporter, listening, longest_s) as server:
        thread = threading.Thread(
            target=server.serve_forever, args=(_POLL_S,), name="telemetry", daemon=True
        )
        thread.start()
        try:
            yield number
        finally:
            server.shutdown()
            thread.join()


def _server(
    reporter: Reporter, listening: socket.socket, longest_s: float
) -> ThreadingHTTPServer:
    address = listening.getsockname()
    # To bind it itself, it would ask for the name of the host, which may take long.
    server = _BoundedServer(address[:2], partial(_Handler, reporter), longest_s)
    server.socket.close()
    server.socket = listening
    return server


class _BoundedServer(ThreadingHTTPServer):
    """Has so many connections at once, each for so long, whoever is behind them."""

    def __init__(
        self,
        address: tuple[str, int],
        handler: Callable[..., BaseHTTPRequestHandler],
        longest_s: float,
    ) -> None:
        super().__init__(address, handler, bind_and_activate=False)
        self._longest_s = longest_s
        self._lock = threading.Lock()
        self._began: dict[socket.socket, float] = {}

    def process_request(self, request: AcceptedRequest, client_address: Peer) -> None:
        with self._lock:
            is_full = len(self._began) >= MOST_AT_ONCE
            if not is_full:
                self._began[_stream(request)] = monotonic()
        if is_full:
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def shutdown_request(self, request: AcceptedRequest) -> None:
        with self._lock:
            self._began.pop(_stream(request), None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Hang up on who drips; it is called with each look for new connections."""
        with self._lock:
            before = monotonic() - self._longest_s
            late = [way for way, began in self._began.items() if began < before]
            for way in late:
                with suppress(OSError):
                    way.shutdown(socket.SHUT_RDWR)


def _stream(request: AcceptedRequest) -> socket.socket:
    """Return the socket; the base class knows datagrams as well."""
    return request if isinstance(request, socket.socket) else request[1]


class _Handler(BaseHTTPRequestHandler):
    """One request; the base class calls `do_GET` for it."""

    server_version = "patchwright"
    sys_version = ""
    timeout = _IDLE_TIMEOUT_S

    def __init__(
        self,
        reporter: Reporter,
        request: socket.socket,
        address: tuple[str, int],
        server: BaseServer,
    ) -> None:
        self._reporter = reporter
        super().__init__(request, address, server)

    def do_GET(self) -> None:
        asking = StatusRequest(
            path=urlsplit(self.path).path,
            listener=ListenerKind.OWN_PORT,
            peer=self.client_address[0],
            authorization=self.headers.get("Authorization", ""),
        )
        self._send(self._reporter.answer(asking))

    def log_message(self, *_: object) -> None:
        """Say nothing of requests that come every few seconds."""

    def _send(self, answer: StatusAnswer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.challenge:
            self.send_header("WWW-Authenticate", answer.challenge)
        self.end_headers()
        self.wfile.write(answer.body)
