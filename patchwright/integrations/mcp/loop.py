"""One thread with an event loop: the MCP library knows no other way to work."""

from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Final, TypeVar

import anyio
from anyio.from_thread import BlockingPortal

# A name that is being looked up cannot be called back; its thread is left behind.
_JOIN_S: Final = 0.5

T = TypeVar("T")


class LoopThread:
    """Runs asynchronous work for callers that are not."""

    def __init__(self) -> None:
        started: Future[BlockingPortal] = Future()
        # As a daemon: what hangs in it must not keep the process from ending.
        self._thread = Thread(
            target=anyio.run, args=(_run_portal, started), name="mcp", daemon=True
        )
        self._thread.start()
        self._portal = started.result()

    def begin(self, work: Callable[..., Awaitable[T]], *args: object) -> Future[T]:
        """Start a piece of work; cancelling the future cancels it.

        After `close` the future is one that was cancelled.
        """
        try:
            return self._portal.start_task_soon(work, *args)
        except RuntimeError:
            too_late: Future[T] = Future()
            too_late.cancel()
            return too_late

    def close(self) -> None:
        """Cancel all work; calling it twice is harmless."""
        with suppress(RuntimeError):  # it has ended already
            self._portal.call(self._portal.stop, True)
        self._thread.join(_JOIN_S)


async def _run_portal(started: "Future[BlockingPortal]") -> None:
    async with BlockingPortal() as portal:
        started.set_result(portal)
        await portal.sleep_until_stopped()
