"""A port of its own on which a process tells how it is."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Final
from urllib.parse import urlsplit

import structlog

from patchwright.workers.listening import Spot, listen
from patchwright.workers.ops.access import Door
from patchwright.workers.ops.reporter import Answer, Asking, Reporter

# For who connects and says nothing.
_PATIENCE_S: Final = 5.0
_POLL_S: Final = 0.05
_FIX: Final = (
    "each process needs a port of its own there: set PATCHWRIGHT_TELEMETRY__PORT"
)

log = structlog.get_logger(__name__)


@contextmanager
def answering(reporter: Reporter, host: str, port: int) -> Iterator[int]:
    """Answer in threads until the context is left; yields the port.

    Raises what `listen` does.
    """
    listening = listen(Spot("telemetry", host, port, _FIX))
    number = int(listening.getsockname()[1])
    log.info("telemetry_listening", host=host, port=number)
    with _server(reporter, listening) as server:
        thread = threading.Thread(
            target=server.serve_forever, args=(_POLL_S,), name="telemetry", daemon=True
        )
        thread.start()
        try:
            yield number
        finally:
            server.shutdown()
            thread.join()


def _server(reporter: Reporter, listening: socket.socket) -> ThreadingHTTPServer:
    address = listening.getsockname()
    # To bind it itself, it would ask for the name of the host, which may take long.
    server = ThreadingHTTPServer(
        address[:2], partial(_Handler, reporter), bind_and_activate=False
    )
    server.socket.close()
    server.socket = listening
    return server


class _Handler(BaseHTTPRequestHandler):
    """One request; the base class calls `do_GET` for it."""

    server_version = "patchwright"
    sys_version = ""
    timeout = _PATIENCE_S

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
        asking = Asking(
            path=urlsplit(self.path).path,
            door=Door.OWN_PORT,
            peer=self.client_address[0],
            authorization=self.headers.get("Authorization", ""),
        )
        self._send(self._reporter.answer(asking))

    def log_message(self, *_: object) -> None:
        """Say nothing of requests that come every few seconds."""

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.challenge:
            self.send_header("WWW-Authenticate", answer.challenge)
        self.end_headers()
        self.wfile.write(answer.body)
