"""Renew a job's lease while it runs, and write only under it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.system.clock import Clock, with_log_context
from patchwright.core.text.escape import split_marks
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    LeaseLostError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.resolver.job import Lease
from patchwright.resolver.messages.planned_writes import PlannedWrite
from patchwright.resolver.publish.effects import RunEffect
from patchwright.resolver.publish.live import Carry, Find, find_nothing
from patchwright.workers.store.effects import BegunEffect, EffectStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.leases import LeaseStore

# The last part of a lease that is not used: a write takes time after the check.
_MARGIN: Final = 1 / 6
_UNKNOWN: Final = (
    "the database does not answer, so nothing is written: another worker may have the "
    "job by now"
)
_NOT_RECORDED: Final = (
    "the database does not answer, so nothing is written: nobody would know of it"
)

T = TypeVar("T")

log = structlog.get_logger(__name__)


class LeaseGuard:
    """Checks whether a worker may still write to the services.

    First it checks the local clock, which also counts the time in which the process was
    suspended: a worker whose lease has expired must not write. Then it asks the
    database, which knows whether another worker holds a lease.
    """

    def __init__(
        self,
        leases: LeaseStore,
        jobs: JobStore,
        lease: Lease,
        clock: Clock,
        lease_s: float,
        *,
        asked_at: float,
    ) -> None:
        """`asked_at` is the monotonic time just before the lease was requested."""
        self._leases, self._jobs, self._lease = leases, jobs, lease
        self._clock, self._lease_s = clock, lease_s
        self._lock = threading.Lock()
        self._deadline = self._deadline_after(asked_at)
        self._is_lost = False

    @property
    def lease(self) -> Lease:
        return self._lease

    def renew(self) -> None:
        """Extend the lease; raises `LeaseLostError`, or an error of the database."""
        asked_at = self._clock.monotonic()
        try:
            self._leases.heartbeat(self._lease, self._lease_s)
        except LeaseLostError:
            self._is_lost = True
            raise
        with self._lock:
            self._deadline = max(self._deadline, self._deadline_after(asked_at))

    def require(self) -> None:
        """Raise `LeaseLostError` unless this worker may write now.

        An expired lease is taken again if no other worker has taken the job.
        """
        if self._is_lost:
            raise _lost(self._lease)
        try:
            if self._has_run_out():
                self.renew()
            elif not self._leases.is_newest(self._lease):
                self._is_lost = True
                raise _lost(self._lease)
        except SQLAlchemyError as error:
            raise ServiceUnavailableError(_UNKNOWN) from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Check the lease before an overwrite, and check the result after it.

        A process may be suspended between the check and the write. Then it may have
        overwritten something newer, and another worker must verify the post.
        """
        self.require()
        yield
        if self._was_overrun():
            self._note_overrun()
            raise _lost(self._lease)

    def is_contested(self) -> bool:
        """Tell whether another worker may have posted the same message."""
        return self._lease.is_successor or self._was_overrun()

    def _was_overrun(self) -> bool:
        if not self._is_lost and not self._has_run_out():
            return False
        try:
            self.require()
        except (LeaseLostError, ServiceUnavailableError):
            return True
        return False

    def _note_overrun(self) -> None:
        log.warning("wrote_without_lease")
        try:
            self._jobs.note_overrun(self._lease.job_id)
        except SQLAlchemyError as error:
            # The worker that has the job now verifies the final message in any case.
            log.warning("overrun_not_noted", error=type(error).__name__)

    def _has_run_out(self) -> bool:
        with self._lock:
            return self._clock.monotonic() >= self._deadline

    def _deadline_after(self, asked_at: float) -> float:
        return asked_at + self._lease_s * (1 - _MARGIN)


def _lost(lease: Lease) -> LeaseLostError:
    return LeaseLostError(f"another worker holds job {lease.job_id} now")


@contextmanager
def heartbeat(
    guard: LeaseGuard, lease_s: float, release_wait: Callable[[], None]
) -> Iterator[None]:
    """Extend the lease three times per lease period, until the context ends.

    `release_wait` is called when the lease is lost, because the run can write nothing
    any more.
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

    thread = threading.Thread(
        target=with_log_context(beat), name="heartbeat", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class ServiceWriter(Protocol):
    """Carries out the writes of a run, or stores them as planned writes.

    `planned` describes the write; it returns None if there is nothing to describe.
    """

    def write(
        self,
        planned: Callable[[], PlannedWrite | None],
        carry: Callable[[], T],
        instead: Callable[[], T],
    ) -> T:
        """Carry out a write; in a dry run, return the result of `instead`."""
        ...

    def overwrite(self, planned: PlannedWrite, carry: Callable[[], None]) -> None:
        """Carry out a write that replaces an earlier one."""
        ...

    def post(
        self,
        planned: PlannedWrite,
        carry: Callable[[], str],
        find: Callable[[str], str | None],
        delete: Callable[[str], None],
    ) -> str:
        """Add a post once and return its id.

        `find` returns the first post with a mark, and `delete` deletes a post.
        """
        ...

    def find(
        self, thread: str, mark: str, look: Callable[[str], str | None]
    ) -> str | None:
        """Return the id of a post of ours that contains `mark`."""
        ...


class LeasedWriter:
    """A `ServiceWriter` that writes only while its worker holds the lease."""

    def __init__(self, guard: LeaseGuard) -> None:
        self._guard = guard

    def write(
        self,
        planned: Callable[[], PlannedWrite | None],
        carry: Callable[[], T],
        instead: Callable[[], T],
    ) -> T:
        del planned, instead
        self._guard.require()
        return carry()

    def overwrite(self, planned: PlannedWrite, carry: Callable[[], None]) -> None:
        del planned
        with self._guard.writing():
            carry()

    def post(
        self,
        planned: PlannedWrite,
        carry: Callable[[], str],
        find: Callable[[str], str | None],
        delete: Callable[[str], None],
    ) -> str:
        """Post a message once; if another worker posts it too, the first post stays."""
        self._guard.require()
        post_id = carry()
        name = split_marks(planned.text).name
        if not name or not self._guard.is_contested():
            return post_id
        try:
            first = find(name) or post_id
            if first != post_id:
                log.warning("second_post_deleted", thread=planned.thread)
                delete(post_id)
        except ServiceError as error:
            log.warning(
                "second_post_unknown", thread=planned.thread, reason=error.reason
            )
            return post_id
        return first

    def find(
        self, thread: str, mark: str, look: Callable[[str], str | None]
    ) -> str | None:
        del thread
        return look(mark)


class Receipt(Value):
    """Finds the effects of a running run on a service."""

    seen_at: str = ""


class OutboxPublisher:
    """A `LivePublisher` that records each effect before and after.

    An effect that an earlier attempt completed is not repeated. An effect that it may
    have completed is first searched for on the service.
    """

    def __init__(self, effects: EffectStore, lease: Lease) -> None:
        self._effects, self._lease = effects, lease

    def publish(
        self, effect: RunEffect, carry: Carry, find: Find = find_nothing
    ) -> str:
        begun = self._begin(effect)
        if begun.receipt is not None:
            return Receipt.model_validate_json(begun.receipt).seen_at
        try:
            found = None if begun.is_new else find()
            seen_at = carry() if found is None else found
        except ServiceError as error:
            with suppress(SQLAlchemyError):
                self._effects.mark_refused(self._lease, begun.key, str(error))
            raise
        receipt = Receipt(seen_at=seen_at).model_dump_json()
        try:
            self._effects.mark_done(self._lease, begun.key, receipt)
        except SQLAlchemyError as error:
            # The next attempt searches for it.
            log.warning("effect_not_marked", error=type(error).__name__)
        return seen_at

    def _begin(self, effect: RunEffect) -> BegunEffect:
        try:
            return self._effects.begin(self._lease, effect)
        except SQLAlchemyError as error:
            raise ServiceUnavailableError(_NOT_RECORDED) from error
