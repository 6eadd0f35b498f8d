"""What host and server say to each other: configuration, requests, replies, errors."""

from __future__ import annotations

import json
import os
from typing import Dict, NamedTuple


class Config(NamedTuple):
    """The server's one command line argument, as JSON.

    `memory_bytes` is named to the model when a tool hits it. `max_data_bytes` and
    `max_processes` are set on every shell; 0 leaves that to the container engine.
    `disk_bytes` is what all files may take together.
    """

    workspace: str
    command_timeout_s: float
    lifetime_s: float
    environment: dict[str, str]
    memory_bytes: int = 0
    max_data_bytes: int = 0
    max_processes: int = 0
    disk_bytes: int = 0

    def to_json(self) -> str:
        return json.dumps(self._asdict())


def read_config(text: str) -> Config:
    return Config(**json.loads(text))


class ActionError(Exception):
    """An action cannot be carried out; the text tells the model what to do instead."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text


class LineBuffer:
    """Takes bytes as they come; `waiting_bytes` belong to a line without its end."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.waiting_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that are complete by now."""
        first, *others = data.split(b"\n")
        self._parts.append(first)
        if not others:
            self.waiting_bytes += len(first)
            return []
        lines = [b"".join(self._parts), *others[:-1]]
        self._parts = [others[-1]]
        self.waiting_bytes = len(others[-1])
        return lines

    def rest(self) -> bytes:
        return b"".join(self._parts)


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


TAKEN_OVER = error("taken-over", "another worker has taken over this sandbox")


class HostRegistry:
    """Knows workers by the name they put on their requests.

    A worker that was taken for dead may only be slow; from the moment another one has
    said hello, nothing is carried out for it any more.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._current = ""

    def welcome(self, request: ServerRequest) -> bool:
        """Return whether a new worker has taken over."""
        name = request.text("host", "")
        if name in self._seen:
            return False
        self._seen.add(name)
        self._current = name
        return True

    def is_current(self, request: ServerRequest) -> bool:
        return request.text("host", "") == self._current
