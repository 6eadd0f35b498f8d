"""How a process shows that it lives: a heartbeat, and a health port of its own."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from socketserver import BaseServer
from time import monotonic
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.settings.service import TelemetrySettings
from patchwright.core.types.base import RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.ops.endpoints import (
    ListenerKind,
    Reporter,
    StatusAnswer,
    StatusRequest,
)
from patchwright.workers.ops.health import (
    ProcessStatus,
    failing_parts,
    record_heartbeat,
    remove_process,
    run_health_checks,
)
from patchwright.workers.ops.lifecycle import ListenAddress, listen

# For who connects and says nothing, and for all that one connection takes.
_IDLE_TIMEOUT_S: Final = 5.0
_LONGEST_CONNECTION_S: Final = 10.0
# Each takes a thread: more are turned away.
MOST_AT_ONCE: Final = 32
_POLL_S: Final = 0.05
_FIX_PORT: Final = "each process needs its own port: set PATCHWRIGHT_TELEMETRY__PORT"

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
    server_socket = listen(ListenAddress("telemetry", host, port, _FIX_PORT))
    number = int(server_socket.getsockname()[1])
    log.info("telemetry_listening", host=host, port=number)
    with _server(reporter, server_socket, longest_s) as server:
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
    reporter: Reporter, server_socket: socket.socket, longest_s: float
) -> ThreadingHTTPServer:
    address = server_socket.getsockname()
    # To bind it itself, it would ask for the name of the host, which may take long.
    server = _BoundedServer(address[:2], partial(_Handler, reporter), longest_s)
    server.socket.close()
    server.socket = server_socket
    return server


class _BoundedServer(ThreadingHTTPServer):
    """Limits the number of connections and the time of each, for all clients."""

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


LONGEST_EVERY_S: Final = 10.0
# Who does not show itself so many times is taken for dead.
MISSED_BEATS: Final = 3
# A part that does not work is looked at again so soon, the first time while it starts.
_SOON_S: Final = 1.0
# A database that is away must not hold up the end of the process.
_LEAVE_S: Final = 2.0


@dataclass(frozen=True)
class HeartbeatConfig:
    """What a process on duty is given; it shows itself every `every_s` seconds."""

    reporter: Reporter
    database: Database
    telemetry: TelemetrySettings
    every_s: float


@contextmanager
def report_alive(post: HeartbeatConfig) -> Iterator[None]:
    """Be on duty until the context is left; the others know at once of the end."""
    telling = _HeartbeatLoop(post)
    thread = threading.Thread(target=telling.run, name="presence", daemon=True)
    with _health_port(post):
        thread.start()
        try:
            yield
        finally:
            telling.stop.set()
            thread.join(_LEAVE_S)


@contextmanager
def _health_port(post: HeartbeatConfig) -> Iterator[None]:
    host, port = post.telemetry.host, post.telemetry.port
    with nullcontext() if port is None else health_port(post.reporter, host, port):
        yield


class _HeartbeatLoop:
    """Says in the database that this process lives, and what of it does not work."""

    def __init__(self, post: HeartbeatConfig) -> None:
        self._post = post
        self._id = RandomIds().new()
        self._started_at = post.reporter.clock.now()
        self._is_heard = True
        self._red: tuple[str, ...] = ()
        self._logged: tuple[str, ...] = ()
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            self._tell()
            every_s = self._post.every_s
            self.stop.wait(min(every_s, _SOON_S) if self._red else every_s)
        self._leave()

    def _tell(self) -> None:
        reporter = self._post.reporter
        parts = run_health_checks(reporter.health.ready, reporter.clock.now())
        self._log_changes(failing_parts(parts))
        try:
            record_heartbeat(self._post.database, self._status())
        except SQLAlchemyError as error:
            if self._is_heard:
                log.warning("presence_not_shown", error=type(error).__name__)
            self._is_heard = False
        else:
            self._is_heard = True

    def _log_changes(self, red: tuple[str, ...]) -> None:
        """Log what was seen twice: at the start, not everything has begun yet."""
        if red == self._red and red != self._logged:
            self._logged = red
            if red:
                log.warning("not_ready", red=" ".join(red))
            else:
                log.info("ready_again")
        self._red = red

    def _status(self) -> ProcessStatus:
        now = self._post.reporter.clock.now()
        return ProcessStatus(
            id=self._id,
            role=self._post.reporter.role,
            name=process_name(),
            version=version("patchwright"),
            started_at=self._started_at,
            seen_at=now,
            until=now + timedelta(seconds=MISSED_BEATS * self._post.every_s),
            red=self._red,
        )

    def _leave(self) -> None:
        if not self._is_heard:
            return
        try:
            remove_process(self._post.database, self._status())
        except SQLAlchemyError as error:
            log.warning("presence_not_ended", error=type(error).__name__)


def process_name() -> str:
    """Return the name of this process in leases and heartbeats."""
    return f"{socket.gethostname()}:{os.getpid()}"
