"""Have a request, and what was added to it, go on in another conversation."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, update

from patchwright.core.events.types import Message, Source
from patchwright.core.types.ids import ConversationId, Ids, JobId
from patchwright.core.types.triggers import Trigger
from patchwright.workers.db.tables import deliveries, jobs, threads
from patchwright.workers.store.active import find_active_state, wake_job
from patchwright.workers.store.event_rows import append_row
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.fencing import raise_fence
from patchwright.workers.store.job import JobState, Lease
from patchwright.workers.store.requests import find_joined, insert_job


@dataclass(frozen=True)
class RequestMover:
    """Works in a transaction that has both conversations locked."""

    connection: Connection
    events: EventStore
    ids: Ids
    into: ConversationId

    def move(self, lease: Lease, trigger: Trigger, now: datetime) -> JobId:
        """End the job; return the one there that has the request now."""
        ours = threads.c.conversation_id == lease.conversation_id
        moved = update(threads).where(ours).values(conversation_id=self.into)
        self.connection.execute(moved)
        _end(self.connection, lease, now)
        active = find_active_state(self.connection, self.into)
        if active is None:
            job_id = JobId(self.ids.new())
            insert_job(self.connection, job_id, self.into, trigger, now)
            self._lead(first_delivery_of(self.connection, lease.job_id), job_id)
        else:
            job_id, state = active
            self._join(first_delivery_of(self.connection, lease.job_id), job_id, trigger)
            if state is JobState.WAITING_USER:
                wake_job(self.connection, job_id, now)
        for one in find_joined(self.connection, lease.job_id):
            self._join(one.delivery, job_id, one.trigger)
        return job_id

    def _join(self, delivery: str | None, job_id: JobId, trigger: Trigger) -> None:
        """Say it in the other log, and have its delivery tell so."""
        message = self.events.new_event(Source.USER, Message(text=trigger.request))
        event_id = append_row(self.connection, self.into, message)
        said = {"trigger": trigger.model_dump_json(), "event_id": event_id}
        self._lead(delivery, job_id, **said)

    def _lead(self, delivery: str | None, job_id: JobId, **said: object) -> None:
        self.connection.execute(
            update(deliveries)
            .where(deliveries.c.id == delivery)
            .values(conversation_id=self.into, job_id=job_id, **said)
        )


def first_delivery_of(connection: Connection, job_id: JobId) -> str | None:
    """Return the delivery that asked for a job."""
    first = (
        select(deliveries.c.id)
        .where(deliveries.c.job_id == job_id, deliveries.c.event_id.is_(None))
        .order_by(deliveries.c.received_at)
        .limit(1)
    )
    return connection.scalars(first).one_or_none()


def _end(connection: Connection, lease: Lease, now: datetime) -> None:
    raise_fence(connection, lease.conversation_id)
    ended = {"state": JobState.CANCELLED, "ended_at": now, "lease_until": None}
    connection.execute(update(jobs).where(jobs.c.id == lease.job_id).values(ended))
