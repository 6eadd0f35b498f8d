"""The socket side of the fake GitHub: HTTP/1.1 on loopback, one thread a connection."""

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from tests.fakes.github.exchange import Request

# How soon the server notices that it should end.
POLL_S = 0.01


@dataclass(frozen=True)
class Wire:
    """An answer in bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def json_bytes(body: object) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


Respond = Callable[[Request], Wire]


class Server:
    """Serves `respond` within its `with` block, which ends every open connection.

    A fault of the server's own is raised at the end of the block.
    """

    def __init__(
        self, respond: Respond, port: int = 0, host: str = "127.0.0.1"
    ) -> None:
        self._host = host
        self._http = _Listener((host, port), respond)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(POLL_S,), name="fake-github"
        )

    @property
    def address(self) -> tuple[str, int]:
        return self._host, self._http.server_port

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.hang_up()
        self._http.server_close()
        if self._http.problems and problem is None:
            raise self._http.problems[0]


class _Listener(ThreadingHTTPServer):
    """Knows its open connections, so that threads waiting on one can be ended."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], respond: Respond) -> None:
        super().__init__(address, _Handler)
        self.respond = respond
        self.problems: list[BaseException] = []
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
            super().shutdown_request(request)

    def hang_up(self) -> None:
        with self._guard:
            for connection in self._open:
                # The other side may have gone already.
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the base class passes them
        """Keep what went wrong here; a client may hang up in the middle."""
        problem = sys.exception()
        if problem is not None and not isinstance(problem, ConnectionError):
            self.problems.append(problem)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    @property
    def _listener(self) -> _Listener:
        if not isinstance(self.server, _Listener):
            raise TypeError("this handler serves a fake GitHub alone")
        return self.server

    def _answer(self) -> None:
        wire = self._listener.respond(self._read())
        self.send_response(wire.status)
        for name, value in wire.headers.items():
            self.send_header(name, value)
        if wire.status != 204:
            self.send_header("Content-Length", str(len(wire.body)))
        self.end_headers()
        self.wfile.write(wire.body)
        self.wfile.flush()

    do_GET = _answer  # noqa: N815 - http.server finds methods by these names
    do_POST = _answer  # noqa: N815 - as above
    do_PATCH = _answer  # noqa: N815 - as above
    do_PUT = _answer  # noqa: N815 - as above
    do_DELETE = _answer  # noqa: N815 - as above

    def _read(self) -> Request:
        parts = urlsplit(self.path)
        return Request(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self._read_body(),
        )

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Stay quiet: `requests` is the log."""
