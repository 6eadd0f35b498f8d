"""Write to a program's standard input without ever waiting for its reader."""

from __future__ import annotations

import os

from patchwright.sandbox.action_server.loop import EventLoop


class StdinFeed:
    """The writing end of an input pipe, which must not block; it is closed here."""

    def __init__(self, loop: EventLoop, write_end: int) -> None:
        self._loop = loop
        self._fd: int | None = write_end
        self._waiting = b""
        self._ends = False

    @property
    def is_open(self) -> bool:
        return self._fd is not None and not self._ends

    @property
    def waiting_bytes(self) -> int:
        return len(self._waiting)

    def write(self, data: bytes) -> None:
        idle = not self._waiting
        self._waiting += data
        if self._fd is not None and idle and data:
            self._loop.watch_write(self._fd, self._pump)

    def end(self) -> None:
        """Let the reader see the end of the input after what was written."""
        self._ends = True
        if not self._waiting:
            self.close()

    def close(self) -> None:
        if self._fd is None:
            return
        if self._waiting:
            self._loop.unwatch(self._fd)
        os.close(self._fd)
        self._fd = None
        self._waiting = b""

    def _pump(self) -> None:
        if self._fd is None:
            return
        try:
            written = os.write(self._fd, self._waiting)
        except BlockingIOError:
            return
        except BrokenPipeError:  # nobody will ever read it
            self.close()
            return
        self._waiting = self._waiting[written:]
        if self._waiting:
            return
        self._loop.unwatch(self._fd)
        if self._ends:
            self.close()


def reopen_input(input_read: int) -> int:
    """Return a writing end of a session's input pipe, emptied of what nobody read."""
    try:
        while os.read(input_read, 65536):
            pass
    except BlockingIOError:
        pass
    return os.open(f"/proc/self/fd/{input_read}", os.O_WRONLY | os.O_NONBLOCK)
