"""The reading end of a session's output, and whose output that is."""

from __future__ import annotations

import fcntl
import os
import struct
import termios

from patchwright.sandbox.action_server.loop import EventLoop
from patchwright.sandbox.action_server.output import FullLog, LogFolder, Output

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
