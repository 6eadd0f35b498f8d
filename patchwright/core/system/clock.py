"""The clock of the machine, and calls in background threads."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from datetime import UTC, datetime
from functools import partial
from typing import Final, ParamSpec, Protocol, TypeVar

# Counts the time in which the machine sleeps as well: what ran out meanwhile has run
# out. Where there is no such clock, the usual one has to do, which on macOS counts it.
_BOOT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """Aware wall-clock time, a monotonic counter in seconds, and waiting."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the one source of time

    def monotonic(self) -> float:
        return time.clock_gettime(_BOOT_CLOCK)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: TID251 - this is the one place that waits


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

    threading.Thread(
        target=with_log_context(run), name="background-call", daemon=True
    ).start()
    return future


def with_log_context(call: Callable[P, T]) -> Callable[P, T]:
    """Let what a call logs in another thread carry the ids of the lines from here."""
    return partial(copy_context().run, call)
