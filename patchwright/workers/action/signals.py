"""Hear that the workflow run is cancelled: ten seconds are left then."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

# SIGINT comes first, SIGTERM seven and a half seconds later, and then the end.
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def when_cancelled(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` in a thread of its own, once, at the first of the signals."""

    def tell(_number: int, _frame: FrameType | None) -> None:
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        # Not here: the thread that was interrupted may hold what this has to wait for.
        threading.Thread(target=act, name="cancelling", daemon=True).start()

    before = {number: signal.signal(number, tell) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
