"""Follow an event log at one's own pace, in a thread of one's own."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import structlog

from patchwright.core.events.types import Event

log = structlog.get_logger(__name__)


@contextmanager
def follow_log(
    read: Callable[[int], Sequence[Event]],
    reader: Callable[[Event], None],
    wakeup: threading.Event,
    *,
    after_id: int = 0,
    look_again_s: float | None = None,
) -> Iterator[None]:
    """Hand the events after `after_id` to `reader`, once and in order.

    `read(start_id)` returns the next ones from there on, or nothing. It is asked when
    `bell` is set, and every `look_again_s` for writers that this bell does not hear.
    Leaving the context waits until everything has been read.
    """
    follower = _Follower(read, reader, wakeup, after_id, look_again_s)
    thread = threading.Thread(target=follower.run, name="event-reader", daemon=True)
    thread.start()
    try:
        yield
    finally:
        follower.finish()
        thread.join()


class _Follower:
    def __init__(
        self,
        read: Callable[[int], Sequence[Event]],
        reader: Callable[[Event], None],
        wakeup: threading.Event,
        after_id: int,
        look_again_s: float | None,
    ) -> None:
        self._read, self._reader, self._wakeup = read, reader, wakeup
        self._cursor = after_id
        self._look_again_s = look_again_s
        self._finishing = threading.Event()

    def finish(self) -> None:
        self._finishing.set()
        self._wakeup.set()

    def run(self) -> None:
        self._catch_up()
        last_look = False
        while not last_look:
            self._wakeup.wait(self._look_again_s)
            self._wakeup.clear()
            # Asked before reading: what was appended before `finish` is read then.
            last_look = self._finishing.is_set()
            self._catch_up()

    def _catch_up(self) -> None:
        while page := self._read(self._cursor + 1):
            for event in page:
                self._hand_over(event)
                self._cursor = event.id

    def _hand_over(self, event: Event) -> None:
        try:
            self._reader(event)
        except Exception:  # the reader's faults are its own, whatever they are
            log.exception("event_reader_failed", event_id=event.id)
