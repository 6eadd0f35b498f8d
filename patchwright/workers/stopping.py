"""End this process in good order when it is told to."""

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

import structlog

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

log = structlog.get_logger(__name__)


class _Told(BaseException):
    """The process was told to end; nothing but `until_told` may catch it."""


@contextmanager
def until_told() -> Iterator[None]:
    """Leave the block at SIGTERM or SIGINT, closing every context in it on the way.

    A signal that comes after the first one changes nothing any more.
    """
    before = {number: signal.signal(number, _tell) for number in _SIGNALS}
    try:
        yield
    except _Told:
        log.info("stopped")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(exit_code: int) -> NoReturn:
    """End the process now, with the threads that do not end by themselves.

    Python would wait for them, and one of them may be in the middle of a clone. A job
    that is cut off here is taken up again like that of a killed worker.
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


def _tell(_number: int, _frame: FrameType | None) -> NoReturn:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise _Told
