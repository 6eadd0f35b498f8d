"""Requests that came while a job was there already, and jobs for new ones."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, insert, select, update

from patchwright.core.types.base import Value
from patchwright.core.types.ids import ConversationId, JobId
from patchwright.core.types.triggers import Trigger
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import deliveries, jobs
from patchwright.workers.store.fencing import require_lease
from patchwright.workers.store.job import JobState, Lease


class JoinedRequest(Value):
    """A request that joined a job; its words are the message with id `event_id`."""

    delivery: str
    event_id: int
    trigger: Trigger


class RequestStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def joined(self, job_id: JobId, after_id: int = 0) -> tuple[JoinedRequest, ...]:
        """Return who is behind the job's messages after an event.

        Whether they may steer the run has not been judged yet.
        """
        with self._database.reading() as connection:
            return _find(connection, job_id, deliveries.c.event_id > after_id)

    def settle(self, lease: Lease, event_id: int) -> None:
        """Note that the run has obeyed or answered what that event says.

        Raises `LeaseLostError`.
        """
        this = (deliveries.c.job_id == lease.job_id) & (
            deliveries.c.event_id == event_id
        )
        with self._database.writing() as connection:
            require_lease(connection, lease)
            connection.execute(update(deliveries).where(this).values(is_settled=True))


def find_unread(connection: Connection, job_id: JobId) -> tuple[JoinedRequest, ...]:
    """Return the requests that joined the job after it had stopped reading.

    What it has obeyed or answered by then is none of them.
    """
    read_up_to = select(jobs.c.read_up_to).where(jobs.c.id == job_id).scalar_subquery()
    is_unread = deliveries.c.event_id > read_up_to
    return _find(connection, job_id, is_unread & ~deliveries.c.is_settled)


def find_joined(connection: Connection, job_id: JobId) -> tuple[JoinedRequest, ...]:
    """Return all that joined the job, whether it has read them or not."""
    return _find(connection, job_id, deliveries.c.event_id.is_not(None))


def hand_over(
    connection: Connection, requests: Sequence[JoinedRequest], job_id: JobId
) -> None:
    """Give requests to a job that was made for the first of them; the others join."""
    theirs = deliveries.c.id.in_([request.delivery for request in requests])
    first = deliveries.c.id == requests[0].delivery
    connection.execute(update(deliveries).where(theirs).values(job_id=job_id))
    connection.execute(update(deliveries).where(first).values(event_id=None))


def insert_job(
    connection: Connection,
    job_id: JobId,
    conversation_id: ConversationId,
    trigger: Trigger,
    now: datetime,
) -> None:
    """Queue a job; the caller has the conversation locked, and submits it at once."""
    row = {
        "id": job_id,
        "conversation_id": conversation_id,
        "state": JobState.QUEUED,
        "trigger": trigger.model_dump_json(),
        "kind": trigger.kind,
        # What nobody asked for must not use up what people may ask for.
        "is_counted": not trigger.kind.is_automatic,
        "created_at": now,
        "submitted_at": now,
        "queued_at": now,
    }
    connection.execute(insert(jobs), row)


def _find(
    connection: Connection, job_id: JobId, which: ColumnElement[bool]
) -> tuple[JoinedRequest, ...]:
    query = (
        select(deliveries.c.id, deliveries.c.event_id, deliveries.c.trigger)
        .where(deliveries.c.job_id == job_id, which)
        .order_by(deliveries.c.event_id)
    )
    return tuple(
        JoinedRequest(
            delivery=row.id,
            event_id=row.event_id,
            trigger=Trigger.model_validate_json(row.trigger),
        )
        for row in connection.execute(query)
    )
