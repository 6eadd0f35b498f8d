"""Give out the right to run a job, for one worker at a time."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, func, select, update

from patchwright.core.types.ids import ConversationId, JobId
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import jobs
from patchwright.workers.store.fencing import (
    lock_conversation,
    raise_fence,
    require_lease,
)
from patchwright.workers.store.job import JobState, Lease

_CLAIMABLE: Final = frozenset({JobState.QUEUED, JobState.RUNNING, JobState.DELIVERING})


class LeaseStore:
    """Leases, as columns of the jobs they are for.

    Every call but `claim` raises `LeaseLostError` when another worker took the job
    over.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(
        self, job_id: JobId, worker: str, now: datetime, lease_s: float
    ) -> Lease | None:
        """Take the job for a while, or return None if someone has it or it has ended.

        A lease that ran out counts as free: its worker is dead, or will be refused when
        it writes next. Whether `Lease.attempt` is one too many is for the caller to
        judge.
        """
        with self._database.writing() as connection:
            conversation_id = _conversation_of(connection, job_id)
            if conversation_id is None:
                return None
            lock_conversation(connection, conversation_id)
            claimed = _claimed(connection, job_id, now)
            if claimed is None:
                return None
            state, attempt = claimed
            lease = Lease(
                job_id=job_id,
                conversation_id=conversation_id,
                worker=worker,
                fence=raise_fence(connection, conversation_id),
                until=now + timedelta(seconds=lease_s),
                attempt=attempt,
                state=state,
            )
            _store(connection, lease, now)
            return lease

    def heartbeat(self, lease: Lease, now: datetime, lease_s: float) -> Lease:
        """Extend the lease."""
        until = now + timedelta(seconds=lease_s)
        extended = (
            update(jobs).where(jobs.c.id == lease.job_id).values(lease_until=until)
        )
        with self._database.writing() as connection:
            require_lease(connection, lease)
            connection.execute(extended)
        return lease.model_copy(update={"until": until})

    def release(self, lease: Lease) -> None:
        """Give the job back unfinished, in good order: the attempt does not count."""
        ours = update(jobs).where(jobs.c.id == lease.job_id)
        # It waits anew, since about now: the lease would not have lasted much longer.
        free = ours.values(
            worker=None,
            lease_until=None,
            submitted_at=None,
            queued_at=jobs.c.lease_until,
        )
        queued = ours.where(jobs.c.state == JobState.RUNNING).values(
            state=JobState.QUEUED, attempts=jobs.c.attempts - 1
        )
        with self._database.writing() as connection:
            require_lease(connection, lease)
            raise_fence(connection, lease.conversation_id)
            connection.execute(free)
            connection.execute(queued)


def _conversation_of(connection: Connection, job_id: JobId) -> ConversationId | None:
    query = select(jobs.c.conversation_id).where(jobs.c.id == job_id)
    return connection.scalars(query).one_or_none()


def _claimed(
    connection: Connection, job_id: JobId, now: datetime
) -> tuple[JobState, int] | None:
    """Return what claiming makes of the job's state and attempts, if it is free."""
    query = select(jobs.c.state, jobs.c.attempts, jobs.c.lease_until)
    state, attempts, until = connection.execute(query.where(jobs.c.id == job_id)).one()
    if state not in _CLAIMABLE or (until is not None and until > now):
        return None
    if state == JobState.DELIVERING:
        return JobState.DELIVERING, attempts
    return JobState.RUNNING, attempts + 1


def _store(connection: Connection, lease: Lease, now: datetime) -> None:
    connection.execute(
        update(jobs)
        .where(jobs.c.id == lease.job_id)
        .values(
            state=lease.state,
            attempts=lease.attempt,
            worker=lease.worker,
            lease_until=lease.until,
            started_at=func.coalesce(jobs.c.started_at, now),
        )
    )
