"""Repeat something at an interval, in a thread of its own."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

log = structlog.get_logger(__name__)


@contextmanager
def repeat_in_background(act: Callable[[], None], every_s: float) -> Iterator[None]:
    """Act at once and then at every interval, until the context is left."""
    stop = threading.Event()
    thread = threading.Thread(
        target=_repeat, args=(act, every_s, stop), name="periodic"
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _repeat(act: Callable[[], None], every_s: float, stop: threading.Event) -> None:
    is_over = False
    while not is_over:
        try:
            act()
        except Exception:  # the next time may go better, and nobody else would try
            log.exception("periodic_act_failed")
        is_over = stop.wait(every_s)
