"""Store requests that join a job or move with their threads to another conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from patchwright.core.events.actions import Message
from patchwright.core.events.payload import Source
from patchwright.core.types.base import ConversationId, Ids, JobId
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.webhook import DeliveryVerdict
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.run_store import JoinedRequest, OtherConversation
from patchwright.workers.db.database import Database, insert_once
from patchwright.workers.db.tables import conversations, deliveries, jobs, threads
from patchwright.workers.store.events import EventStore, append_row
from patchwright.workers.store.jobs import (
    change_trigger,
    find_active_state,
    wake_job,
)
from patchwright.workers.store.leases import (
    lock_conversation,
    raise_fence,
    require_lease,
)
from patchwright.workers.store.run_rows import insert_run_row
from patchwright.workers.store.threads import find_conversation, thread_row

# Why an automatic trigger has no job yet: the conversation has another one.
POSTPONED: Final = "postponed"


class RequestStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def joined(self, job_id: JobId, after_id: int = 0) -> tuple[JoinedRequest, ...]:
        """Return the authors of the job's messages after an event.

        Whether they may steer the run is not checked yet.
        """
        with self._database.reading() as connection:
            return _find(connection, job_id, deliveries.c.event_id > after_id)

    def settle(self, lease: Lease, event_id: int) -> None:
        """Record that the run has followed or answered the message of this event.

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

    Requests that the job has followed or answered are not included.
    """
    read_up_to = select(jobs.c.read_up_to).where(jobs.c.id == job_id).scalar_subquery()
    is_unread = deliveries.c.event_id > read_up_to
    return _find(connection, job_id, is_unread & ~deliveries.c.is_settled)


def find_joined(connection: Connection, job_id: JobId) -> tuple[JoinedRequest, ...]:
    """Return all requests that joined the job, read or not."""
    has_joined = deliveries.c.event_id.is_not(None) & (deliveries.c.reason != POSTPONED)
    return _find(connection, job_id, has_joined)


def hand_over(
    connection: Connection, requests: Sequence[JoinedRequest], job_id: JobId
) -> None:
    """Give requests to a job that was made for the first of them; the others join."""
    theirs = deliveries.c.id.in_([request.delivery for request in requests])
    first = deliveries.c.id == requests[0].delivery
    connection.execute(update(deliveries).where(theirs).values(job_id=job_id))
    connection.execute(update(deliveries).where(first).values(event_id=None))


def postpone(
    connection: Connection,
    ids: Ids,
    conversation_id: ConversationId,
    trigger: Trigger,
    now: datetime,
    *,
    until: JobId,
) -> None:
    """Keep an automatic trigger until the conversation's active job has ended.

    The caller holds the conversation's lock. It is a delivery of our own, since one
    from outside may be about many conversations.
    """
    row_id = ids.new()
    row = {
        "id": row_id,
        "service": trigger.thread.service,
        "delivery_id": f"{POSTPONED}:{row_id}",
        "received_at": now,
        "headers": "{}",
        "body": b"",
        "verdict": DeliveryVerdict.IGNORED,
        "reason": POSTPONED,
        "trigger": trigger.model_dump_json(),
        "conversation_id": conversation_id,
        "job_id": until,
        # It is no request that has joined the job, nor the one that has started it.
        "event_id": 0,
    }
    connection.execute(insert(deliveries), row)


def take_postponed(connection: Connection, job_id: JobId) -> tuple[Trigger, ...]:
    """Return what was postponed until the job ends, the most urgent first.

    Of several pushes to a pull request only the newest one counts.
    """
    theirs = (deliveries.c.job_id == job_id) & (deliveries.c.reason == POSTPONED)
    query = (
        select(deliveries.c.trigger).where(theirs).order_by(deliveries.c.received_at)
    )
    found = map(Trigger.model_validate_json, connection.scalars(query).all())
    newest = {
        (one.thread.name if one.kind is TriggerKind.PUSHED else one.key): one
        for one in found
    }
    connection.execute(delete(deliveries).where(theirs))
    urgent = sorted(newest.values(), key=lambda one: one.kind is not TriggerKind.PUSHED)
    return tuple(urgent)


def insert_job(
    connection: Connection,
    job_id: JobId,
    conversation_id: ConversationId,
    trigger: Trigger,
    now: datetime,
) -> None:
    """Queue a job; the caller holds the conversation's lock and submits it at once."""
    row = {
        "id": job_id,
        "conversation_id": conversation_id,
        "state": JobState.QUEUED,
        "trigger": trigger.model_dump_json(),
        "kind": trigger.kind,
        # Automatic runs must not use up the limit for people's requests.
        "is_counted": not trigger.kind.is_automatic,
        "created_at": now,
        "submitted_at": now,
        "queued_at": now,
    }
    connection.execute(insert(jobs), row)
    insert_run_row(connection, job_id, conversation_id, trigger, now)


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


@dataclass(frozen=True)
class RequestMover:
    """Moves requests, in a transaction that holds the locks of both conversations."""

    connection: Connection
    events: EventStore
    ids: Ids
    into: ConversationId

    def move(self, lease: Lease, trigger: Trigger, now: datetime) -> JobId:
        """End the job; return the job there that has the request now."""
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
            self._join(
                first_delivery_of(self.connection, lease.job_id), job_id, trigger
            )
            if state is JobState.WAITING_USER:
                wake_job(self.connection, job_id, now)
        for one in find_joined(self.connection, lease.job_id):
            self._join(one.delivery, job_id, one.trigger)
        return job_id

    def _join(self, delivery: str | None, job_id: JobId, trigger: Trigger) -> None:
        """Write the request to the other log, and link its delivery to it."""
        message = self.events.new_event(Source.USER, Message(text=trigger.request))
        event_id = append_row(self.connection, self.into, message)
        payload = {"trigger": trigger.model_dump_json(), "event_id": event_id}
        self._lead(delivery, job_id, **payload)

    def _lead(self, delivery: str | None, job_id: JobId, **values: object) -> None:
        self.connection.execute(
            update(deliveries)
            .where(deliveries.c.id == delivery)
            .values(conversation_id=self.into, job_id=job_id, **values)
        )


def first_delivery_of(connection: Connection, job_id: JobId) -> str | None:
    """Return the webhook delivery that started a job."""
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


class ConversationLinkStore:
    """Each call raises `LeaseLostError` when another worker has the job."""

    def __init__(self, database: Database, events: EventStore, ids: Ids) -> None:
        self._database = database
        self._events, self._ids = events, ids

    def settle(self, lease: Lease, trigger: Trigger) -> None:
        """Store what was found about a request: its repository, and who asked."""
        place = trigger.place
        with self._database.writing() as connection:
            require_lease(connection, lease)
            change_trigger(connection, lease.job_id, trigger)
            if place is not None:
                connection.execute(
                    update(conversations)
                    .where(conversations.c.id == lease.conversation_id)
                    .values(repo=str(place))
                )

    def swap(self, lease: Lease, joined: JoinedRequest, first: Trigger) -> None:
        """Make a joined request the job's main request; the first request joins it."""
        with self._database.writing() as connection:
            require_lease(connection, lease)
            change_trigger(connection, lease.job_id, joined.trigger)
            _hand_over(
                connection,
                lease.job_id,
                trigger=first.model_dump_json(),
                event_id=joined.event_id,
            )
            asks_now = deliveries.c.id == joined.delivery
            connection.execute(update(deliveries).where(asks_now).values(event_id=None))

    def replace(
        self, lease: Lease, old: TalkThread, new: TalkThread, now: datetime
    ) -> None:
        """Replace a thread that had no message by the thread that was begun for it."""
        with self._database.writing() as connection:
            require_lease(connection, lease)
            row = thread_row(lease.conversation_id, new, now)
            insert_once(connection, threads, row)
            connection.execute(threads.delete().where(threads.c.key == str(old)))

    def link(
        self, lease: Lease, ref: ThreadRef, now: datetime
    ) -> ConversationId | None:
        """Make a thread part of the job's conversation.

        If it is part of another conversation already, returns that one: see `move`.
        """
        with self._database.writing() as connection:
            require_lease(connection, lease)
            row = thread_row(lease.conversation_id, ref, now)
            insert_once(connection, threads, row)
            found = find_conversation(connection, ref)
        return None if found == lease.conversation_id else found

    def move(
        self,
        lease: Lease,
        trigger: Trigger,
        there: OtherConversation,
        now: datetime,
        *,
        joins: bool = True,
    ) -> JobId | None:
        """Move the request and its threads to the conversation of that thread.

        The job ends, and its lease too. Returns the job that has the request now; the
        caller submits it. Nothing happens if the thread has left that conversation, or
        if a job is active there and the request may not join it.
        """
        thread, into = there.named, there.conversation_id
        with self._database.writing() as connection:
            # Always in the same order, so that two workers cannot block each other.
            for conversation_id in sorted((lease.conversation_id, into)):
                lock_conversation(connection, conversation_id)
            require_lease(connection, lease)
            is_gone = find_conversation(connection, thread) != into
            if is_gone or not (joins or find_active_state(connection, into) is None):
                return None
            mover = RequestMover(connection, self._events, self._ids, into)
            job_id = mover.move(lease, trigger, now)
        self._events.notifier.notify(into)
        return job_id


def _hand_over(connection: Connection, old: JobId, **values: object) -> None:
    """Link the delivery of a request to the conversation that has the request now."""
    asked = deliveries.c.id == first_delivery_of(connection, old)
    connection.execute(update(deliveries).where(asked).values(**values))
