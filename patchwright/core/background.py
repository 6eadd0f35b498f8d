"""Make a call in a thread that can be left behind."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def start(call: Callable[[], T]) -> "Future[T]":
    """Make a call in a thread of its own, which does not keep the process alive.

    It can be left behind: a model's answer may come late, or never.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again by who waits for it
            future.set_exception(error)

    threading.Thread(target=run, name="background-call", daemon=True).start()
    return future
