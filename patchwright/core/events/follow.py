"""Followers of a log: each reads at its own pace, in a thread of its own."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import structlog

from patchwright.core.events.types import Event

_log = structlog.get_logger()


class Doorbell:
    """Tells whoever waits that there is something new to read."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._rings = 0

    def ring(self) -> None:
        with self._changed:
            self._rings += 1
            self._changed.notify_all()

    def wait(self, seen: int, timeout_s: float | None = None) -> int:
        """Wait for a ring after the `seen`th one; return how many there were."""
        with self._changed:
            self._changed.wait_for(lambda: self._rings > seen, timeout_s)
            return self._rings


@contextmanager
def follow(
    read: Callable[[int], Sequence[Event]],
    bell: Doorbell,
    reader: Callable[[Event], None],
    *,
    after_id: int = 0,
    poll_s: float | None = None,
) -> Iterator[None]:
    """Hand the events after `after_id` to `reader`, once and in order.

    `read(start_id)` returns what there is from there on. With `poll_s` it is asked that
    often without a ring too, for writers in other processes. A reader that fails is
    told nothing more. Leaving the context waits until all is read.
    """
    closing = threading.Event()

    def run() -> None:
        cursor, rings = after_id, 0
        while True:
            last_look = closing.is_set()
            for event in read(cursor + 1):
                reader(event)
                cursor = event.id
            if last_look:
                return
            rings = bell.wait(rings, poll_s)

    def run_guarded() -> None:
        try:
            run()
        except Exception:  # noqa: BLE001 - a thread's edge: one reader's fault ends here
            _log.exception("event_reader_failed")

    thread = threading.Thread(target=run_guarded, name="event-reader", daemon=True)
    thread.start()
    try:
        yield
    finally:
        closing.set()
        bell.ring()
        thread.join()
