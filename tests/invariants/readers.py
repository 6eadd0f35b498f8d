"""Readers of a log as live views are: they come, go, dawdle, and go on where they were.

They look at nothing but the bell, so that a lost ring shows.
"""

import threading
from contextlib import ExitStack
from time import monotonic

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Event

PATIENCE_S = 20
_PAGE = 3


class Reader:
    """One reader, and what it has seen over all its connections."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.seen: list[Event] = []
        self._more = threading.Condition()
        self._connection: ExitStack | None = None

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    def connect(self) -> None:
        """Follow the log from the cursor, which is the last id seen."""
        self._hung_up, self._may_read = threading.Event(), threading.Event()
        self._may_read.set()
        self._connection = ExitStack()
        self._wakeup = self._connection.enter_context(self._log.listen())
        thread = threading.Thread(target=self._follow)
        thread.start()
        self._connection.callback(thread.join)

    def disconnect(self) -> None:
        """Hang up in the middle of whatever is being sent."""
        if self._connection is None:
            return
        self._hung_up.set()
        self._may_read.set()
        self._wakeup.set()
        self._connection.close()
        self._connection = None

    def dawdle(self) -> None:
        self._may_read.clear()

    def hurry(self) -> None:
        self._may_read.set()

    def sees(self, count: int) -> bool:
        """Wait until so many events have been seen; tell whether they have."""
        with self._more:
            return self._more.wait_for(lambda: len(self.seen) >= count, PATIENCE_S)

    def _follow(self) -> None:
        until = monotonic() + 10 * PATIENCE_S
        self._catch_up()
        while not self._hung_up.is_set():
            assert self._wakeup.wait(until - monotonic())
            self._wakeup.clear()
            self._catch_up()

    def _catch_up(self) -> None:
        while page := self._log.read(len(self.seen) + 1, limit=_PAGE):
            for event in page:
                assert self._may_read.wait(PATIENCE_S)
                if self._hung_up.is_set():
                    return
                with self._more:
                    self.seen.append(event)
                    self._more.notify_all()
