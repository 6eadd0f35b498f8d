"""Wait for a call no longer than allowed, even if the call itself cannot be ended."""

from collections.abc import Callable
from typing import TypeVar

from patchwright.core.background import start_call

T = TypeVar("T")


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Return what `call` returns or raises, or raise `TimeoutError` after `seconds`.

    An HTTP client's time limit starts anew with each byte, so a server that keeps
    sending blanks can hold it for ever. Here the call is left behind.
    """
    return start_call(call).result(timeout=seconds)
