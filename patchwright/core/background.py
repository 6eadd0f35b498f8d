"""Make a call in another thread, which may be left behind."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def start_call(call: Callable[[], T]) -> "Future[T]":
    """Make a call in a thread of its own, which does not keep the process alive.

    It can be left behind: a model's answer may come late, or never. What it logs
    carries the ids that the caller's lines carry.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again by who waits for it
            future.set_exception(error)

    threading.Thread(target=with_log_context(run), name="background-call", daemon=True).start()
    return future


def with_log_context(call: Callable[P, T]) -> Callable[P, T]:
    """Let what a call logs in another thread carry the ids of the lines from here."""
    return partial(copy_context().run, call)
