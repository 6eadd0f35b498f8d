"""End a run at Ctrl-C, or when the machine says so, or with its terminal."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

from patchwright.core.agent.attention import ReleaseSignal

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[ReleaseSignal]:
    """Raise `KeyboardInterrupt`, with the signal's name, at SIGINT, SIGTERM or SIGHUP.

    What is yielded is done then, so that whatever holds the run up is ended. A signal
    that comes after the first one changes nothing any more.
    """
    release_signal: ReleaseSignal = Future()

    def tell(number: int, _frame: FrameType | None) -> NoReturn:
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        # Not here: the thread that was interrupted may hold what this has to wait for.
        threading.Thread(target=release_signal.set_result, args=(None,)).start()
        raise KeyboardInterrupt(signal.Signals(number).name)

    # One that is ignored already is to be ignored, such as SIGHUP under nohup.
    heard = [one for one in _SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.signal(number, tell) for number in heard}
    try:
        yield release_signal
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
