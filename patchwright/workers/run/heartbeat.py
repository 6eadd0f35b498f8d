"""Keep a lease alive while its job runs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.background import with_log_context
from patchwright.core.errors import LeaseLostError
from patchwright.workers.run.lease_guard import LeaseGuard

log = structlog.get_logger(__name__)


@contextmanager
def heartbeat(
    guard: LeaseGuard, lease_s: float, release_wait: Callable[[], None]
) -> Iterator[None]:
    """Extend the lease three times in its length, until the context is left.

    `let_go` is called when it is lost: the run could write nothing any more.
    """
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(lease_s / 3):
            try:
                guard.renew()
            except LeaseLostError:
                release_wait()
                return
            except SQLAlchemyError as error:
                log.warning("heartbeat_failed", error=type(error).__name__)

    thread = threading.Thread(target=with_log_context(beat), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
