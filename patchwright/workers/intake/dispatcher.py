"""Hand new jobs to the queue, away from the thread that answers webhooks."""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Self

import structlog

from patchwright.core.types.ids import JobId
from patchwright.workers.queue.errors import BrokerUnavailableError

MAX_WAITING_JOBS: Final = 10_000

log = structlog.get_logger(__name__)


class Dispatcher:
    """Submits job ids from a thread of its own.

    An id that cannot be submitted is let go: the sweep finds its job in the database.
    Used as a context: leaving it submits what still waits.
    """

    def __init__(self, submit: Callable[[JobId], None]) -> None:
        self._submit = submit
        self._waiting: queue.Queue[JobId | None] = queue.Queue(MAX_WAITING_JOBS)
        self._thread = threading.Thread(target=self._run, name="dispatcher")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.put(None)
        self._thread.join()

    def dispatch(self, job_id: JobId) -> None:
        try:
            self._waiting.put_nowait(job_id)
        except queue.Full:
            log.warning("job_not_dispatched", job_id=job_id, reason="backlog")

    def _run(self) -> None:
        while (job_id := self._waiting.get()) is not None:
            try:
                self._submit(job_id)
            except BrokerUnavailableError as error:
                log.warning("job_not_dispatched", job_id=job_id, reason=str(error))
                if self._let_go():
                    return

    def _let_go(self) -> bool:
        """Drop what waits, as each would wait for the broker in vain; tell the end."""
        with suppress(queue.Empty):
            while self._waiting.get_nowait() is not None:
                pass
            return True
        return False
