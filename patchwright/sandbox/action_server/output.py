"""What one command prints: short and clean for the model, whole in a file."""

from __future__ import annotations

import codecs
import fcntl
import importlib
import os
import re
import struct
import termios
from collections import deque
from contextlib import suppress
from typing import Callable, NamedTuple, Protocol

from patchwright.sandbox.action_server.event_loop import EventLoop
from patchwright.sandbox.action_server.workspace_paths import remove_if_there

MAX_LINE = 8192

# https://ecma-international.org/publications-and-standards/standards/ecma-48/
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # OSC and such: titles, links
    r"|\x1b[ -/]+[0-~]"  # character sets
    r"|\x1b[0-Z\\^-~]"  # two-character escapes
)
_UNFINISHED = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,4096}\x1b?|[ -/]+)?\Z"
)
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_REDRAW = re.compile(r"[\r\b]")
_SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class OutputCleaner:
    """Takes bytes as they come; gives lines back once they can no longer change."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._line = ""

    def feed(self, data: bytes) -> str:
        text = self._held + self._decoder.decode(data)
        self._held = ""
        if _SPECIAL.search(text):
            text = self._without_sequences(text)
        lines, newline, self._line = (self._line + text).rpartition("\n")
        if _REDRAW.search(lines):
            lines = "\n".join(apply_redraws(line) for line in lines.split("\n"))
        return lines + newline + self._overlong()

    def peek(self) -> str:
        return apply_redraws(self._line)

    def flush(self) -> str:
        """Return the line that is still open, as it looks now."""
        shown, self._line = apply_redraws(self._line), ""
        return shown

    def _without_sequences(self, text: str) -> str:
        text = _SEQUENCE.sub("", text)
        unfinished = _UNFINISHED.search(text)
        if unfinished:
            self._held = unfinished.group()
            text = text[: unfinished.start()]
        elif text.endswith("\r"):
            self._held, text = "\r", text[:-1]
        return _CONTROL.sub("", text.replace("\r\n", "\n"))

    def _overlong(self) -> str:
        if len(self._line) <= MAX_LINE:
            return ""
        self._line = apply_redraws(self._line)
        return self.flush() if len(self._line) > MAX_LINE else ""


def apply_redraws(line: str) -> str:
    """Return what a line shows after its redraws and backspaces."""
    if "\r" in line:
        line = next((part for part in reversed(line.split("\r")) if part), "")
    if "\b" not in line:
        return line
    shown: list[str] = []
    for character in line:
        if character != "\b":
            shown.append(character)
        elif shown:
            shown.pop()
    return "".join(shown)


HEAD_CHARACTERS = 5000
TAIL_CHARACTERS = 5000


class Transcript:
    """Holds at most head and tail; counts the bytes that fell out between them."""

    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self.dropped_bytes = 0

    def add(self, text: str) -> None:
        room = HEAD_CHARACTERS - len(self._head)
        if room:
            self._head += text[:room]
            text = text[room:]
        self._tail += text
        if len(self._tail) > TAIL_CHARACTERS:
            dropped = self._tail[:-TAIL_CHARACTERS]
            self.dropped_bytes += len(dropped.encode())
            self._tail = self._tail[-TAIL_CHARACTERS:]

    def text(self) -> str:
        if not self.dropped_bytes:
            return self._head + self._tail
        gap = f"\n[... {self.dropped_bytes} bytes left out ...]\n"
        return self._head + gap + self._tail

    def tail(self) -> str:
        return self._tail or self._head


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


CHUNK = 1 << 16


class Capture:
    """Reads all the time, so that background processes never wait for a reader.

    What they print between two commands goes to the next one. `handle` names the
    command whose turn it is.
    """

    def __init__(self, name: str, fd: int, loop: EventLoop, logs: LogFolder) -> None:
        self._name = name
        self._fd = fd
        self._loop = loop
        self._logs = logs
        self._count = 0
        self.handle = ""
        self.output = self._next_output()
        loop.watch_read(fd, self._read)

    def finish(self) -> Output:
        """Return the output as it is now; whatever comes later is another's."""
        # A background process may print without end: take what is there, and no more.
        waiting = bytearray(4)
        fcntl.ioctl(self._fd, termios.FIONREAD, waiting)
        (count,) = struct.unpack("i", waiting)
        while count > 0:
            data = os.read(self._fd, min(count, CHUNK))
            self.output.feed(data)
            count -= len(data)
        finished, self.output = self.output, self._next_output()
        return finished

    def close(self) -> None:
        self._loop.unwatch(self._fd)
        self.output.close()

    def _read(self) -> None:
        try:
            self.output.feed(os.read(self._fd, CHUNK))
        except BlockingIOError:  # a command that ended in this moment took it along
            return

    def _next_output(self) -> Output:
        self._count += 1
        self.handle = f"{self._name}-{self._count}"
        return Output(FullLog(self._logs, self.handle))
