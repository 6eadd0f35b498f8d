"""End this process in good order when it is told to."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

import structlog

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

log = structlog.get_logger(__name__)


class _Terminated(BaseException):
    """The process was told to end; nothing but `until_told` may catch it."""


@contextmanager
def until_terminated() -> Iterator[None]:
    """Leave the block at SIGTERM or SIGINT, closing every context in it on the way.

    A signal that comes after the first one changes nothing any more.
    """
    before = {number: signal.signal(number, _terminate) for number in _SIGNALS}
    try:
        yield
    except _Terminated:
        log.info("stopped")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise _Terminated
