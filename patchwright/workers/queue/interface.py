"""What other code needs of the queue without Celery: job runner, error, timer."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import structlog

from patchwright.core.types.base import JobId
from patchwright.core.types.errors import PatchwrightError


class BrokerUnavailableError(PatchwrightError):
    """The broker took nothing; the job is still in the database."""

    reason = "broker-unavailable"


class JobRunner(Protocol):
    """Runs jobs; the queue only says when. All calls come from several threads."""

    def run(self, job_id: JobId) -> None:
        """Run the job if it is free; a job may be submitted twice."""
        ...

    def sweep(self) -> None:
        """Submit what the database says is unfinished, and clear away what is left."""
        ...

    def stop(self) -> None:
        """Make the running jobs give up their leases as soon as they safely can."""
        ...


log = structlog.get_logger(__name__)


@contextmanager
def repeat_in_background(act: Callable[[], None], every_s: float) -> Iterator[None]:
    """Act at once and then at every interval, until the context is left."""
    stop = threading.Event()
    thread = threading.Thread(
        target=_repeat, args=(act, every_s, stop), name="periodic"
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _repeat(act: Callable[[], None], every_s: float, stop: threading.Event) -> None:
    is_over = False
    while not is_over:
        try:
            act()
        except Exception:  # the next time may go better, and nobody else would try
            log.exception("periodic_act_failed")
        is_over = stop.wait(every_s)
