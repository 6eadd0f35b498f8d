"""Slack's Socket Mode: connections that are asked for, and envelopes through them.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

import base64
import hashlib
import json
import queue
import socket
import struct
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

TIMEOUT_S = 10
_KEY_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_SHORT, _MEDIUM = 126, 1 << 16


class FakeSocketMode:
    """A server on loopback; used as a context.

    It hands out addresses for `app_token` alone, each of which connects once unless
    `refuses` is set, takes masked frames alone, and ends a connection when a newer one
    is there. `acknowledged` has what the client answers, and `refused` an entry for
    everything that it was not given, both in order.
    """

    def __init__(self, app_token: str = "xapp-1", name: str = "") -> None:
        self.app_token = app_token
        self._name = name
        self.refuses = False
        self.acknowledged: queue.Queue[dict[str, Any]] = queue.Queue()
        self.refused: queue.Queue[str] = queue.Queue()
        self.connected: queue.Queue[Line] = queue.Queue()
        self.tickets: set[str] = set()
        self.numbers = count(1)
        self._newest: Line | None = None
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Ours", (Handler,), {"fake": self})
        )
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self._server.server_port

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/api"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def next_line(self) -> "Line":
        """Wait for a connection that has not been taken yet."""
        return self.connected.get(timeout=TIMEOUT_S)

    def next_answer(self) -> dict[str, Any]:
        return self.acknowledged.get(timeout=TIMEOUT_S)

    def open(self, token: str) -> dict[str, Any]:
        """Answer who asks for a connection."""
        if token != self.app_token:
            return {"ok": False, "error": "invalid_auth"}
        return {"ok": True, "url": self.new_url()}

    def connect(self, line: "Line") -> None:
        older, self._newest = self._newest, line
        self.connected.put(line)
        if older is not None:
            older.end()

    def new_url(self) -> str:
        ticket = str(next(self.numbers))
        self.tickets.add(ticket)
        own = self.api_url.replace("http:", "ws:").removesuffix("/api")
        root = self._name or own
        return f"{root}/link/?ticket={ticket}"


class Line:
    """One connection, seen from Slack's end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = connection.makefile("rb")
        self._lock = threading.Lock()

    def deliver(
        self, kind: str, payload: Mapping[str, Any], *, answers: bool = False
    ) -> str:
        """Send an envelope and return its id."""
        digest = hashlib.sha256(json.dumps(payload).encode()).hexdigest()
        envelope = {
            "envelope_id": digest,
            "type": kind,
            "payload": payload,
            "accepts_response_payload": answers,
        }
        self.send(envelope)
        return digest

    def send(self, frame: Mapping[str, Any]) -> None:
        self.send_text(json.dumps(frame))

    def send_text(self, text: str) -> None:
        """Send what may be no JSON at all."""
        self._write(_TEXT, text.encode())

    def disconnect(self) -> None:
        """Ask the client to come anew, as Slack does every few hours."""
        self.send({"type": "disconnect", "reason": "refresh_requested"})

    def hang_up(self) -> None:
        self._write(_CLOSE, struct.pack("!H", 1000))

    def serve(self, fake: FakeSocketMode) -> None:
        """Take frames until the connection ends."""
        self.send({"type": "hello", "num_connections": 1})
        fake.connect(self)
        with self._reader:
            self._take_frames(fake)

    def end(self) -> None:
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def _take_frames(self, fake: FakeSocketMode) -> None:
        while (frame := self._read()) is not None:
            code, data = frame
            if code == _PING:
                self._write(_PONG, data)
            if code == _TEXT:
                fake.acknowledged.put(json.loads(data))
            if code == _CLOSE:
                return

    def _write(self, code: int, data: bytes) -> None:
        head = bytes([0x80 | code])
        if len(data) < _SHORT:
            head += bytes([len(data)])
        elif len(data) < _MEDIUM:
            head += struct.pack("!BH", _SHORT, len(data))
        else:
            head += struct.pack("!BQ", _SHORT + 1, len(data))
        with self._lock:
            self._connection.sendall(head + data)

    def _read(self) -> tuple[int, bytes] | None:
        """Return what a frame is and its bytes; None at the end, or for no mask."""
        head = self._reader.read(2)
        if len(head) < len(b"..") or not head[1] & 0x80:
            return None
        length = head[1] & 0x7F
        if length == _SHORT:
            (length,) = struct.unpack("!H", self._reader.read(2))
        elif length > _SHORT:
            (length,) = struct.unpack("!Q", self._reader.read(8))
        mask = self._reader.read(4)
        data = self._reader.read(length)
        plain = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        return head[0] & 0x0F, plain


class Handler(BaseHTTPRequestHandler):
    fake: FakeSocketMode
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        shown = self.headers.get("Authorization", "").removeprefix("Bearer ")
        is_known = self.path == "/api/apps.connections.open"
        answer = self.fake.open(shown if is_known else "")
        if not answer["ok"]:
            self.fake.refused.put(self.path)
        self._answer(answer)

    def do_GET(self) -> None:
        self.close_connection = True
        ticket = parse_qs(urlsplit(self.path).query).get("ticket", [""])[0]
        if self.fake.refuses or ticket not in self.fake.tickets:
            self.fake.refused.put(self.path)
            self.send_error(403)
            return
        self.fake.tickets.discard(ticket)
        key = self.headers["Sec-WebSocket-Key"].encode() + _KEY_SUFFIX
        accept = base64.b64encode(hashlib.sha1(key).digest()).decode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accept)
        self.end_headers()
        Line(self.connection).serve(self.fake)

    def _answer(self, answer: Mapping[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
