"""Store deliveries in groups, from one thread, and hand new jobs to the queue."""

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Final, Self

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.types.base import JobId
from patchwright.core.webhook import (
    Delivery,
    DeliveryVerdict,
    InboxResult,
    InboxUnavailableError,
)
from patchwright.workers.db.database import Database
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.queue.interface import BrokerUnavailableError

MAX_WAITING_JOBS: Final = 10_000

log = structlog.get_logger(__name__)


class Dispatcher:
    """Submits job ids from a thread of its own.

    An id that cannot be submitted is dropped: the sweep finds its job in the database.
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
                if self._drop_waiting():
                    return

    def _drop_waiting(self) -> bool:
        """Drop what waits, because the broker does not answer; end the thread."""
        with suppress(queue.Empty):
            while self._waiting.get_nowait() is not None:
                pass
            return True
        return False


MAX_WAITING_DELIVERIES: Final = 1_000
MAX_GROUP: Final = 200

_Waiting = tuple[Delivery, "Future[InboxResult]"]


class Inbox:
    """Stores deliveries; a sender waits for its own only.

    Whatever waits when the thread is ready becomes one transaction. New jobs go to
    `dispatch` after the commit. Used as a context: leaving it stores what still waits.
    """

    def __init__(
        self, database: Database, recorder: Recorder, dispatch: Callable[[JobId], None]
    ) -> None:
        self._database = database
        self._recorder = recorder
        self._dispatch = dispatch
        self._waiting: queue.Queue[_Waiting | None] = queue.Queue(
            MAX_WAITING_DELIVERIES
        )
        self._thread = threading.Thread(target=self._run, name="intake")
        self._is_open = False

    def __enter__(self) -> Self:
        self._is_open = True
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take nothing more, and store what still waits."""
        if self._is_open:
            self._is_open = False
            self._waiting.put(None)
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        return self._is_open and self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """How many deliveries wait to be stored."""
        return self._waiting.qsize()

    def submit(self, delivery: Delivery) -> "Future[InboxResult]":
        """Queue a delivery; the future is done once it is committed.

        Raises `InboxUnavailableError`, and so does the future.
        """
        if not self.is_alive:
            raise InboxUnavailableError("the service is shutting down")
        stored: Future[InboxResult] = Future()
        try:
            self._waiting.put_nowait((delivery, stored))
        except queue.Full:
            raise InboxUnavailableError("too many deliveries are waiting") from None
        return stored

    def _run(self) -> None:
        goes_on = True
        while goes_on:
            group, goes_on = self._next_group()
            if group:
                self._store(group)

    def _next_group(self) -> tuple[list[_Waiting], bool]:
        """Wait for a delivery, and take those that have come with it."""
        group: list[_Waiting] = []
        item = self._waiting.get()
        while item is not None:
            group.append(item)
            if len(group) == MAX_GROUP or self._waiting.empty():
                return group, True
            item = self._waiting.get()
        return group, False

    def _store(self, group: Sequence[_Waiting]) -> None:
        try:
            results = self._commit([delivery for delivery, _ in group])
        except SQLAlchemyError as error:
            self._store_singly(group, error)
            return
        for (_, future), stored in zip(group, results, strict=True):
            self._announce(stored, future)

    def _store_singly(self, group: Sequence[_Waiting], error: SQLAlchemyError) -> None:
        """Find out which deliveries can be stored when the group could not be.

        Two processes may also have waited for each other, which ends when they take
        smaller steps.
        """
        log.warning("intake_group_failed", size=len(group), error=str(error.__cause__))
        for delivery, future in group:
            try:
                [stored] = self._commit([delivery])
            except SQLAlchemyError as failure:
                _refuse(future, failure)
            else:
                self._announce(stored, future)

    def _commit(self, deliveries: Sequence[Delivery]) -> list[InboxResult]:
        with self._database.writing() as connection:
            return [self._recorder.record(connection, one) for one in deliveries]

    def _announce(self, stored: InboxResult, future: "Future[InboxResult]") -> None:
        # A sender that has hung up does not wait; what it sent is stored all the same.
        if future.set_running_or_notify_cancel():
            future.set_result(stored)
        is_due = stored.verdict is DeliveryVerdict.ACCEPTED or stored.wakes
        if is_due and stored.job_id is not None:
            self._dispatch(stored.job_id)
        for job_id in stored.due:
            self._dispatch(job_id)
        if (
            stored.verdict is DeliveryVerdict.JOINED
            and stored.conversation_id is not None
        ):
            self._recorder.events.notifier.notify(stored.conversation_id)
        for conversation_id in stored.other_conversations:
            self._recorder.events.notifier.notify(conversation_id)


def _refuse(future: "Future[InboxResult]", error: SQLAlchemyError) -> None:
    log.error("delivery_not_stored", error=type(error).__name__)
    if future.set_running_or_notify_cancel():
        future.set_exception(InboxUnavailableError("the database did not store it"))
