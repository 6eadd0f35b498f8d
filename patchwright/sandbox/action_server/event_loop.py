"""The server's single thread: waits for files, for times and for children that end."""

from __future__ import annotations

import heapq
import itertools
import os
import selectors
import signal
import time
from typing import Callable

# The kernel counts milliseconds in 32 bits.
LONGEST_WAIT_S = 3600.0


class Timer:
    """Something to be called at a time; cancelling it later is harmless."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class EventLoop:
    """Calls back from one thread, so that nothing here needs a lock."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._exits: dict[int, Callable[[int], None]] = {}
        self._reap_watchers: list[Callable[[], None]] = []
        self._watch_children()

    def watch_read(self, fd: int, callback: Callable[[], None]) -> None:
        self._selector.register(fd, selectors.EVENT_READ, callback)

    def watch_write(self, fd: int, callback: Callable[[], None]) -> None:
        self._selector.register(fd, selectors.EVENT_WRITE, callback)

    def unwatch(self, fd: int) -> None:
        """Stop watching a file; that nobody watches it any more is fine."""
        if fd in self._selector.get_map():
            self._selector.unregister(fd)

    def after(self, seconds: float, callback: Callable[[], None]) -> Timer:
        timer = Timer(callback)
        entry = (time.monotonic() + seconds, next(self._order), timer)
        heapq.heappush(self._timers, entry)
        return timer

    def on_exit(self, pid: int, callback: Callable[[int], None]) -> None:
        """Call back with the exit code of a child, as a shell would number it."""
        self._exits[pid] = callback

    def on_reap(self, callback: Callable[[], None]) -> None:
        """Call back whenever any process ended."""
        self._reap_watchers.append(callback)

    def forget_reap(self, callback: Callable[[], None]) -> None:
        self._reap_watchers.remove(callback)

    def run_forever(self) -> None:
        while True:
            for key, _ in self._selector.select(self._seconds_to_next_timer()):
                # An earlier callback of this round may have closed this file.
                if key.fd in self._selector.get_map():
                    key.data()
            self._run_due_timers()

    def _seconds_to_next_timer(self) -> float | None:
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return None
        wait_s = self._timers[0][0] - time.monotonic()
        return min(max(wait_s, 0.0), LONGEST_WAIT_S)

    def _run_due_timers(self) -> None:
        while self._timers and self._timers[0][0] <= time.monotonic():
            timer = heapq.heappop(self._timers)[2]
            if timer.callback is not None:
                timer.callback()

    def _watch_children(self) -> None:
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        self.watch_read(wake_read, lambda: self._children_ended(wake_read))

    def _children_ended(self, wake_read: int) -> None:
        os.read(wake_read, 4096)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            # As process 1 we inherit every orphan; most of them nobody waits for.
            callback = self._exits.pop(pid, None)
            if callback is not None:
                callback(exit_code(status))
        for watcher in list(self._reap_watchers):
            watcher()


def exit_code(status: int) -> int:
    if os.WIFSIGNALED(status):
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


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
