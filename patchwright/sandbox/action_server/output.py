"""What one command prints: short for the model, whole in a file."""

from __future__ import annotations

import importlib
import os
from collections import deque
from contextlib import suppress
from typing import Callable, NamedTuple, Protocol

from patchwright.sandbox.action_server.cleaning import OutputCleaner
from patchwright.sandbox.action_server.temporary import remove_if_there
from patchwright.sandbox.action_server.transcript import Transcript

MAX_LOG_BYTES = 32 << 20
MAX_LOGS = 20
BUFFER_BYTES = 64 << 10


class Hash(Protocol):
    def update(self, data: bytes) -> None: ...

    def hexdigest(self) -> str: ...


def _find_hash() -> Callable[[], Hash]:
    """Return the SHA-256 without OpenSSL, which would load longer than all the server.

    Its module is called `_sha256` until Python 3.11, and not every Python has it.
    """
    for name in ("_sha2", "_sha256"):
        with suppress(ImportError):
            found: Callable[[], Hash] = importlib.import_module(name).sha256
            return found
    plain: Callable[[], Hash] = importlib.import_module("hashlib").sha256
    return plain


new_hash = _find_hash()


class Excerpt(NamedTuple):
    text: str
    dropped_bytes: int
    full_path: str


class LogFolder:
    """The folder for whole outputs; the oldest of them make room for new ones."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._files: deque[str] = deque()

    def create(self, name: str) -> tuple[str, int]:
        """Return the path and an open file; raise OSError when the disk is full."""
        os.makedirs(self._path, exist_ok=True)
        path = os.path.join(self._path, name + ".txt")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
        self._files.append(path)
        while len(self._files) > MAX_LOGS:
            remove_if_there(self._files.popleft())
        return path, fd


class FullLog:
    """Every byte up to a limit: in memory while they are few, then in a file."""

    def __init__(self, folder: LogFolder, name: str) -> None:
        self._folder = folder
        self._name = name
        self._buffer = bytearray()
        self._room = MAX_LOG_BYTES
        self._fd: int | None = None
        self._path = ""

    def add(self, data: bytes) -> None:
        data = data[: self._room]
        self._room -= len(data)
        self._buffer += data
        if len(self._buffer) > BUFFER_BYTES:
            self.store()

    def store(self) -> str:
        """Write what is still in memory; return the path, or "" if the disk is full."""
        try:
            if self._fd is None:
                self._path, self._fd = self._folder.create(self._name)
            os.write(self._fd, self._buffer)
        except OSError:
            self._room = 0
        self._buffer.clear()
        return self._path

    def close(self) -> None:
        if self._fd is not None:
            self.store()
            os.close(self._fd)
            self._fd = None


class Output:
    """The output of one command, given out in excerpts without overlap."""

    def __init__(self, log: FullLog) -> None:
        self._log = log
        self._cleaner = OutputCleaner()
        self._transcript = Transcript()
        # Of what was read, not of a file that commands could change.
        self._hash = new_hash()

    @property
    def digest(self) -> str:
        """The SHA-256 of every byte so far, in hexadecimal."""
        return self._hash.hexdigest()

    def feed(self, data: bytes) -> None:
        self._hash.update(data)
        self._log.add(data)
        self._transcript.add(self._cleaner.feed(data))

    def take(self) -> Excerpt:
        """Return what came since the last excerpt."""
        self._transcript.add(self._cleaner.flush())
        taken, self._transcript = self._transcript, Transcript()
        path = self._log.store() if taken.dropped_bytes else ""
        return Excerpt(taken.text(), taken.dropped_bytes, path)

    def tail(self) -> str:
        return self._transcript.tail() + self._cleaner.peek()

    def close(self) -> None:
        self._log.close()
