"""A process that works for one action, and writes its result as one JSON object."""

from __future__ import annotations

import json
import os
import signal

from patchwright.sandbox.action_server.command import SendReply
from patchwright.sandbox.action_server.loop import EventLoop
from patchwright.sandbox.action_server.processes import (
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.wire import Reply, error

MAX_RESULT_BYTES = 4 << 20
_CANCELLED = error("called-off", "called off before its end; nothing came of it")


class OneOffJob:
    """Answers with what the process wrote, or with `too_late` after its time.

    Takes over the reading end of the pipe that the process writes to.
    """

    def __init__(
        self, loop: EventLoop, pid: int, read_end: int, answer: SendReply, failed: Reply
    ) -> None:
        self._loop = loop
        self._pid = pid
        self._read_end = read_end
        self._answer = answer
        self._failed = failed
        self._parts: list[bytes] = []
        self._size = 0
        self._is_over = False
        loop.watch_read(read_end, self._read)

    def limit(self, seconds: float, too_late: Reply) -> None:
        self._loop.after(seconds, lambda: self._stop(too_late))

    def cancel(self) -> None:
        self._stop(_CANCELLED)

    def _read(self) -> None:
        data = os.read(self._read_end, 65536)
        self._parts.append(data)
        self._size += len(data)
        if not data:
            self._end(self._result())
        elif self._size > MAX_RESULT_BYTES:
            self._stop(self._failed)

    def _result(self) -> Reply:
        try:
            result = json.loads(b"".join(self._parts))
        except ValueError:
            return self._failed
        return result if isinstance(result, dict) else self._failed

    def _stop(self, reply: Reply) -> None:
        if self._is_over:
            return
        for process in find_descendants(self._pid, list_processes()):
            send_signal(process.pid, signal.SIGKILL)
        send_signal(self._pid, signal.SIGKILL)
        self._end(reply)

    def _end(self, reply: Reply) -> None:
        self._is_over = True
        self._loop.unwatch(self._read_end)
        os.close(self._read_end)
        self._answer(reply)
