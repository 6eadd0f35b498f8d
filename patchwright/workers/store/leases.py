"""Give one worker at a time the right to run a job, and fence off older leases."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from patchwright.core.types.base import ConversationId, JobId
from patchwright.core.types.errors import LeaseLostError
from patchwright.resolver.job import JobState, Lease
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations, jobs

# Statements on the way of every webhook and event are built once: building one takes
# longer than SQLite takes to run it.
_LOCK: Final = (
    select(conversations.c.fence)
    .where(conversations.c.id == bindparam("conversation_id"))
    .with_for_update()
)


def lock_conversation(connection: Connection, conversation_id: ConversationId) -> int:
    """Make other writers of the conversation wait; return the newest fence.

    Every writer of a conversation's rows or of its jobs calls this first, so that no
    two transactions can wait for each other.
    """
    found = connection.scalars(_LOCK, {"conversation_id": conversation_id})
    fence: int | None = found.one_or_none()
    if fence is None:
        raise LookupError(f"there is no conversation {conversation_id}")
    return fence


def require_lease(connection: Connection, lease: Lease) -> None:
    """Lock the conversation; raise `LeaseLostError` unless the lease is the newest."""
    if lock_conversation(connection, lease.conversation_id) != lease.fence:
        raise LeaseLostError(f"another worker holds job {lease.job_id} now")


def raise_fence(connection: Connection, conversation_id: ConversationId) -> int:
    """End every lease given out so far; return the new fence."""
    raised = (
        update(conversations)
        .where(conversations.c.id == conversation_id)
        .values(fence=conversations.c.fence + 1)
        .returning(conversations.c.fence)
    )
    fence: int = connection.scalars(raised).one()
    return fence


_CLAIMABLE: Final = frozenset({JobState.QUEUED, JobState.RUNNING, JobState.DELIVERING})
# Asked before each write to a service, so it is built once.
_FENCE: Final = select(conversations.c.fence).where(
    conversations.c.id == bindparam("conversation_id")
)


class LeaseStore:
    """Leases, as columns of the jobs they are for; their time is the database's.

    Every call but `claim` and `is_newest` raises `LeaseLostError` when another worker
    took the job over.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, job_id: JobId, worker: str, lease_s: float) -> Lease | None:
        """Take the job for a while, or return None if someone has it or it has ended.

        A lease that ran out counts as free: its worker is dead, or will be refused when
        it writes next. The caller decides whether `Lease.attempt` is too high.
        """
        with self._database.writing() as connection:
            conversation_id = _conversation_of(connection, job_id)
            if conversation_id is None:
                return None
            lock_conversation(connection, conversation_id)
            now = self._database.now(connection)
            claimed = _claimed(connection, job_id, now)
            if claimed is None:
                return None
            lease = Lease(
                job_id=job_id,
                conversation_id=conversation_id,
                worker=worker,
                fence=raise_fence(connection, conversation_id),
                until=now + timedelta(seconds=lease_s),
                attempt=claimed.attempt,
                state=claimed.state,
                is_successor=claimed.is_successor,
                delivery_attempt=claimed.delivery_attempt,
            )
            connection.execute(
                update(jobs)
                .where(jobs.c.id == lease.job_id)
                .values(
                    state=lease.state,
                    attempts=lease.attempt,
                    delivery_attempts=lease.delivery_attempt,
                    worker=lease.worker,
                    lease_until=lease.until,
                    started_at=func.coalesce(jobs.c.started_at, now),
                )
            )
            return lease

    def heartbeat(self, lease: Lease, lease_s: float) -> None:
        """Extend the lease."""
        with self._database.writing() as connection:
            require_lease(connection, lease)
            until = self._database.now(connection) + timedelta(seconds=lease_s)
            ours = update(jobs).where(jobs.c.id == lease.job_id)
            connection.execute(ours.values(lease_until=until))

    def is_newest(self, lease: Lease) -> bool:
        """Tell whether nobody has got a lease for the conversation since."""
        asked = {"conversation_id": lease.conversation_id}
        with self._database.reading() as connection:
            fence: int | None = connection.scalars(_FENCE, asked).one_or_none()
        return fence == lease.fence

    def release(self, lease: Lease) -> None:
        """Give the job back unfinished, in good order: the attempt does not count."""
        ours = update(jobs).where(jobs.c.id == lease.job_id)
        # It waits again, from about now: the lease would not have lasted much longer.
        free = ours.values(
            worker=None,
            lease_until=None,
            submitted_at=None,
            queued_at=jobs.c.lease_until,
        )
        queued = ours.where(jobs.c.state == JobState.RUNNING).values(
            state=JobState.QUEUED, attempts=jobs.c.attempts - 1
        )
        delivered = ours.where(jobs.c.delivery_attempts > 0).values(
            delivery_attempts=jobs.c.delivery_attempts - 1
        )
        with self._database.writing() as connection:
            require_lease(connection, lease)
            raise_fence(connection, lease.conversation_id)
            connection.execute(free)
            connection.execute(queued)
            connection.execute(delivered)


class _Claimed(NamedTuple):
    """What claiming makes of a job."""

    state: JobState
    attempt: int
    delivery_attempt: int
    is_successor: bool


def _conversation_of(connection: Connection, job_id: JobId) -> ConversationId | None:
    query = select(jobs.c.conversation_id).where(jobs.c.id == job_id)
    return connection.scalars(query).one_or_none()


def _claimed(connection: Connection, job_id: JobId, now: datetime) -> _Claimed | None:
    """Return what claiming makes of the job's state and attempts, if it is free."""
    query = select(
        jobs.c.state,
        jobs.c.attempts,
        jobs.c.delivery_attempts,
        jobs.c.lease_until,
        jobs.c.started_at,
    ).where(jobs.c.id == job_id)
    row = connection.execute(query).one()
    is_held = row.lease_until is not None and row.lease_until > now
    if row.state not in _CLAIMABLE or is_held:
        return None
    is_successor = row.started_at is not None
    if row.state == JobState.DELIVERING:
        again = row.delivery_attempts + 1
        return _Claimed(JobState.DELIVERING, row.attempts, again, is_successor)
    return _Claimed(JobState.RUNNING, row.attempts + 1, 0, is_successor)
