"""A server over streamable HTTP: it keeps sessions, and wants a token.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

import gzip
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

TOKEN = "mcp-token-5b1f"
TOOLS = ("echo", "forget", "hang", "huge", "flood", "zipped")
NOTE = {
    "jsonrpc": "2.0",
    "method": "notifications/message",
    "params": {"level": "info", "data": "still at it " * 100},
}


@dataclass
class State:
    """What the server knows; `elsewhere` is where `/elsewhere` sends people."""

    elsewhere: str = ""
    sessions: set[str] = field(default_factory=set)
    ended: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


class FakeMcpServer:
    """`/mcp` works, `/moved` leads there, `/elsewhere` leads away, `/broken` fails."""

    def __init__(self) -> None:
        self.state = State()
        self._server = _Server(self.state)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.state.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    block_on_close = False
    daemon_threads = True

    def __init__(self, state: State) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.state = state


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        match self.path:
            case "/elsewhere":
                self._reply(307, b"", Location=self.server.state.elsewhere)
            case "/moved":
                self._reply(307, b"", Location="/mcp")
            case "/broken":
                self._reply(500, b"out of order")
            case "/mcp" if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self._reply(401, b"who are you?")
            case "/mcp":
                self._answer(json.loads(body))
            case _:
                self._reply(404, b"")

    def do_GET(self) -> None:
        self._reply(405, b"")

    def do_DELETE(self) -> None:
        self.server.state.ended.append(str(self.headers["Mcp-Session-Id"]))
        self._reply(204, b"")

    def _answer(self, message: dict[str, Any]) -> None:
        state = self.server.state
        state.heard.append(message["method"])
        session = self.headers["Mcp-Session-Id"]
        if message["method"] == "initialize":
            self._greet(message)
        elif message["method"] == "server/discover":
            self._json(message, error={"code": -32601, "message": "unknown method"})
        elif session is None:
            self._reply(400, b"a session is missing")
        elif session not in state.sessions:
            self._reply(404, b"")
        elif "id" not in message:
            self._reply(202, b"")
        elif message["method"] == "tools/list":
            tools = [
                {"name": name, "inputSchema": {"type": "object"}} for name in TOOLS
            ]
            self._json(message, result={"tools": tools})
        else:
            self._call(message, session)

    def _greet(self, message: dict[str, Any]) -> None:
        session = f"session-{len(self.server.state.heard)}"
        self.server.state.sessions.add(session)
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "1"},
        }
        self._json(message, {"Mcp-Session-Id": session}, result=result)

    def _call(self, message: dict[str, Any], session: str) -> None:
        arguments = message["params"].get("arguments", {})
        match message["params"]["name"]:
            case "echo":
                self._say(message, str(arguments["text"]))
            case "forget":
                self.server.state.sessions.discard(session)
                self._say(message, "forgotten")
            case "hang":
                self.server.state.closing.wait()
            case "huge":
                self._say(message, "x" * 10_000_000)
            case "flood":
                self._flood()
            case _:
                content = [{"type": "text", "text": "x"}]
                answer = {"jsonrpc": "2.0", "id": message["id"]}
                body = json.dumps({**answer, "result": {"content": content}}).encode()
                headers = {"Content-Type": "application/json"}
                headers["Content-Encoding"] = "gzip"
                self._reply(200, gzip.compress(body), **headers)

    def _flood(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        event = f"event: message\ndata: {json.dumps(NOTE)}\n\n".encode()
        try:
            while not self.server.state.closing.is_set():
                self.wfile.write(event)
        except OSError:
            self.close_connection = True

    def _say(self, message: dict[str, Any], text: str) -> None:
        self._json(message, result={"content": [{"type": "text", "text": text}]})

    def _json(
        self,
        message: dict[str, Any],
        headers: dict[str, str] | None = None,
        **answer: Any,
    ) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode()
        named = {"Content-Type": "application/json", **(headers or {})}
        self._reply(200, body, **named)

    def _reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        pass
