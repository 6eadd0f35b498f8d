"""A loopback server whose POST requests are answered by one function."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def json_answer(status: int, body: Any, **headers: str) -> Answer:
    return Answer(status, json.dumps(body).encode(), headers)


Answerer = Callable[[str, Mapping[str, str], bytes], Answer | None]


class _Server(ThreadingHTTPServer):
    # A client that hangs must not keep the test from ending.
    block_on_close = False
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Answerer, host: str) -> None:
        super().__init__((host, 0), _Handler)
        self.answer = answer


class _Handler(BaseHTTPRequestHandler):
    # litellm keeps its HTTP clients until the process ends. A server that ends each
    # connection leaves no open sockets in them.
    protocol_version = "HTTP/1.0"
    # Otherwise each small answer waits 40 ms for the client's delayed acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        sent = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.answer(self.path, sent, body)
        if answer is None:
            self.close_connection = True
            return
        headers = {"Content-Type": "application/json", **answer.headers}
        self.send_response(answer.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        pass


class LoopbackServer:
    """Serves from a thread between `__enter__` and `__exit__`."""

    def __init__(self, answer: Answerer, host: str = "127.0.0.1") -> None:
        self._host = host
        self._server = _Server(answer, host)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
