"""Wait for a call no longer than allowed, even if the call itself cannot be ended."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Return what `call` returns or raises, or raise `TimeoutError` after `seconds`.

    An HTTP client's time limit starts anew with each byte, so a server that keeps
    sending blanks can hold it for ever. Here the call is left behind, in a thread that
    does not keep the process alive.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            future.set_exception(error)

    threading.Thread(target=run, name="model-call", daemon=True).start()
    return future.result(timeout=seconds)
