"""Requests and replies: one JSON object a line, over two file descriptors."""

from __future__ import annotations

import json
import os
from typing import Dict

from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.lines import LineBuffer

# A pipe holds no more, and more would be taken from the kernel each time.
CHUNK = 1 << 16

Reply = Dict[str, object]


class ServerRequest:
    """One request of the host; the accessors refuse a value of the wrong type."""

    def __init__(self, fields: Reply) -> None:
        self.fields = fields
        self.id = self.text("id")
        self.op = self.text("op")

    def text(self, name: str, default: str | None = None) -> str:
        value = self.fields.get(name, default)
        if isinstance(value, str):
            return value
        raise ActionError("bad-request", f"`{name}` must be a text")

    def whole(self, name: str, default: int) -> int:
        value = self.fields.get(name, default)
        if isinstance(value, int):
            return value
        raise ActionError("bad-request", f"`{name}` must be a whole number")

    def seconds(self, name: str, default: float) -> float:
        value = self.fields.get(name)
        if value is None:
            return default
        if isinstance(value, (int, float)):
            return max(float(value), 0.0)
        raise ActionError("bad-request", f"`{name}` must be a number of seconds")

    def is_set(self, name: str) -> bool:
        return self.fields.get(name) is True

    def texts(self, name: str) -> list[str]:
        value = self.fields.get(name)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return value
        raise ActionError("bad-request", f"`{name}` must be a list of texts")

    def objects(self, name: str) -> list[ServerRequest]:
        value = self.fields.get(name, [])
        if not isinstance(value, list):
            raise ActionError("bad-request", f"`{name}` must be a list")
        return [ServerRequest({"id": self.id, "op": self.op, **item}) for item in value]


class HostChannel:
    """The server's end of the line to the host."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.read_fd = read_fd
        self._write_fd = write_fd
        self._lines = LineBuffer()

    def read_lines(self) -> list[bytes] | None:
        """Return the lines that are complete by now, or None after the last one."""
        data = os.read(self.read_fd, CHUNK)
        if not data:
            return None
        return [line for line in self._lines.feed(data) if line.strip()]

    def send(self, request_id: str, result: Reply) -> None:
        line = json.dumps({"id": request_id, "result": result}, ensure_ascii=False)
        # File names need not be UTF-8; the host gets a "?" for each such byte.
        data = memoryview(line.encode("utf-8", "replace") + b"\n")
        while data:
            data = data[os.write(self._write_fd, data) :]


def parse(line: bytes) -> ServerRequest | None:
    """Read a request; what a worker left half written when it died is no request."""
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("id"), str):
        return None
    return ServerRequest(fields)


def error(reason: str, text: str) -> Reply:
    return {"kind": "error", "reason": reason, "text": text}
