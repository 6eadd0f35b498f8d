"""A terminal of 80 columns for one process, and what is on it."""

import fcntl
import os
import pty
import re
import struct
import termios
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.provision.errors import ProvisionError
from tests.provision.starter import Started, ready_starter
from tests.provision.waiting import wait_until

COLUMNS = 80
START_S = 60.0
# Colours, and what a terminal is told about its cursor.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Screen:
    """What a process has written so far; lines are broken only where it broke them."""

    process: Started
    _written: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        plain = _CONTROL.sub("", self._written.decode("utf-8", "replace"))
        return "\n".join(line.rstrip() for line in plain.split("\r\n"))

    def wait_for(self, words: str) -> None:
        try:
            wait_until(lambda: words in self.text, words, START_S)
        except ProvisionError as error:
            raise ProvisionError(f"{error}\n{self.text}") from None

    def read(self, terminal: int) -> None:
        # The other end is closed when the process has ended, which is an error here.
        try:
            while part := os.read(terminal, 65_536):
                self._written += part
        except OSError:
            return


@contextmanager
def at_terminal(
    *arguments: str, folder: Path, environment: Mapping[str, str]
) -> Iterator[Screen]:
    """Run `patchwright` with a terminal as its streams; the block's end ends it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with os.fdopen(theirs, "r+b", buffering=0) as stream:
        process = ready_starter().start(
            *arguments,
            cwd=folder,
            env={**environment, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)},
            stdin=stream,
            stdout=stream,
            stderr=stream,
        )
    screen = Screen(process)
    reader = threading.Thread(target=screen.read, args=(ours,))
    reader.start()
    try:
        yield screen
    finally:
        process.kill()
        process.wait()
        reader.join()
        os.close(ours)
