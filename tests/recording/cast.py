"""Run a command on a terminal of its own, and keep what it writes there and when."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from patchwright.core.settings.environment import process_environment

# Sequences that move the cursor or set a colour, so that words can be looked for.
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# What a command that waits for a key says last.
_WAITS_FOR_ENTER = re.compile(r"(?i)press enter[^\n]*\Z")
_CHUNK = 65_536


class RecordingError(Exception):
    """What keeps a recording from being made; says what to do."""


@dataclass(frozen=True)
class Size:
    columns: int
    rows: int


@dataclass(frozen=True)
class Written:
    """A text that was written, and the seconds that passed before it."""

    after_s: float
    text: str


def record(argv: Sequence[str], size: Size) -> tuple[Written, ...]:
    """Run it to its end, pressing Enter where it asks for that; it must succeed."""
    said: list[Written] = []
    with _terminal(size) as (controller, its_own):
        process = subprocess.Popen(
            argv,
            stdin=its_own,
            stdout=its_own,
            stderr=its_own,
            env=_environment(process_environment(), size),
            start_new_session=True,
        )
        os.close(its_own)
        unanswered = ""
        for one in _read(controller):
            said.append(one)
            unanswered += one.text
            if _waits(unanswered):
                os.write(controller, b"\n")
                unanswered = ""
        code = process.wait()
    if code != 0:
        last = "".join(one.text for one in said)[-2_000:]
        raise RecordingError(f"{argv[0]} ended with {code}:\n{last}")
    return tuple(said)


def _waits(text: str) -> bool:
    return _WAITS_FOR_ENTER.search(_CONTROL.sub("", text).rstrip()) is not None


@contextmanager
def _terminal(size: Size) -> Iterator[tuple[int, int]]:
    controller, its_own = pty.openpty()
    shape = struct.pack("HHHH", size.rows, size.columns, 0, 0)
    fcntl.ioctl(its_own, termios.TIOCSWINSZ, shape)
    try:
        yield controller, its_own
    finally:
        os.close(controller)


def _environment(own: Mapping[str, str], size: Size) -> dict[str, str]:
    """Return what a person's terminal would have; what `make` adds is left out."""
    kept = {
        name: value
        for name, value in own.items()
        if not name.startswith(("MAKE", "MFLAGS")) and name not in {"NO_COLOR", "CI"}
    }
    shape = {"COLUMNS": str(size.columns), "LINES": str(size.rows)}
    return {**kept, **shape, "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def _read(controller: int) -> Iterator[Written]:
    before, rest = time.monotonic(), b""
    while data := _next(controller):
        now, (text, rest) = time.monotonic(), _whole(rest + data)
        yield Written(now - before, text)
        before = now


def _next(controller: int) -> bytes:
    try:
        return os.read(controller, _CHUNK)
    except OSError:
        # Linux answers so when the last program has closed its end.
        return b""


def _whole(data: bytes) -> tuple[str, bytes]:
    """Return the text, and the first bytes of a character that is not there yet."""
    for missing in range(4):
        cut = len(data) - missing
        try:
            return data[:cut].decode(), data[cut:]
        except UnicodeDecodeError:
            continue
    return data.decode(errors="replace"), b""
