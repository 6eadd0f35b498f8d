"""Tie threads together: what is said in any of them belongs to one conversation."""

from datetime import datetime

from sqlalchemy import Connection, select, update

from patchwright.core.events.types import Message, Source
from patchwright.core.types.ids import ConversationId, Ids, JobId
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations, deliveries, jobs, threads
from patchwright.workers.db.upsert import insert_once
from patchwright.workers.store.active import change_trigger, find_active_state, wake
from patchwright.workers.store.event_rows import append_row
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.fencing import (
    lock_conversation,
    raise_fence,
    require_lease,
)
from patchwright.workers.store.job import JobState, Lease
from patchwright.workers.store.requests import insert_job
from patchwright.workers.store.threads import find_conversation, thread_row


class TyingStore:
    """Each call raises `LeaseLostError` when another worker has the job."""

    def __init__(self, database: Database, events: EventStore, ids: Ids) -> None:
        self._database = database
        self._events, self._ids = events, ids

    def settle(self, lease: Lease, trigger: Trigger) -> None:
        """Keep what was found out about a request: where its code is, who asked."""
        place = trigger.place
        with self._database.writing() as connection:
            require_lease(connection, lease)
            change_trigger(connection, lease.job_id, trigger)
            if place is not None:
                _set_repository(connection, lease.conversation_id, place)

    def replace(
        self, lease: Lease, old: TalkThread, new: TalkThread, now: datetime
    ) -> None:
        """Let a thread that had no message yet be the one that was begun for it."""
        with self._database.writing() as connection:
            require_lease(connection, lease)
            row = thread_row(lease.conversation_id, new, now)
            insert_once(connection, threads, row)
            connection.execute(threads.delete().where(threads.c.key == str(old)))

    def tie(self, lease: Lease, ref: ThreadRef, now: datetime) -> ConversationId | None:
        """Make a thread part of the job's conversation.

        Returns the other conversation that it is part of already: see `move`.
        """
        with self._database.writing() as connection:
            require_lease(connection, lease)
            row = thread_row(lease.conversation_id, ref, now)
            insert_once(connection, threads, row)
            found = find_conversation(connection, ref)
        return None if found == lease.conversation_id else found

    def move(
        self, lease: Lease, trigger: Trigger, into: ConversationId, now: datetime
    ) -> JobId:
        """Have the request go on in another conversation, with all its threads.

        The job ends, and the lease with it. Returns the one that has the request now,
        to be submitted.
        """
        with self._database.writing() as connection:
            # In one order, so that no two can wait for each other.
            for conversation_id in sorted((lease.conversation_id, into)):
                lock_conversation(connection, conversation_id)
            require_lease(connection, lease)
            ours = threads.c.conversation_id == lease.conversation_id
            connection.execute(update(threads).where(ours).values(conversation_id=into))
            _end(connection, lease, now)
            return self._give(connection, lease.job_id, trigger, into, now)

    def _give(
        self,
        connection: Connection,
        old: JobId,
        trigger: Trigger,
        into: ConversationId,
        now: datetime,
    ) -> JobId:
        active = find_active_state(connection, into)
        if active is None:
            job_id = JobId(self._ids.new())
            insert_job(connection, job_id, into, trigger, now)
            _hand_over(connection, old, conversation_id=into, job_id=job_id)
            return job_id
        job_id, state = active
        message = self._events.new_event(Source.USER, Message(text=trigger.request))
        _hand_over(
            connection,
            old,
            conversation_id=into,
            job_id=job_id,
            trigger=trigger.model_dump_json(),
            event_id=append_row(connection, into, message),
        )
        if state is JobState.WAITING_USER:
            wake(connection, job_id)
        return job_id


def _set_repository(
    connection: Connection, conversation_id: ConversationId, repo: RepoRef
) -> None:
    connection.execute(
        update(conversations)
        .where(conversations.c.id == conversation_id)
        .values(repo=str(repo))
    )


def _end(connection: Connection, lease: Lease, now: datetime) -> None:
    raise_fence(connection, lease.conversation_id)
    ended = {"state": JobState.CANCELLED, "ended_at": now, "lease_until": None}
    connection.execute(update(jobs).where(jobs.c.id == lease.job_id).values(ended))


def _hand_over(connection: Connection, old: JobId, **values: object) -> None:
    """Have the delivery that asked lead to where its request is now."""
    first = (
        select(deliveries.c.id)
        .where(deliveries.c.job_id == old, deliveries.c.event_id.is_(None))
        .order_by(deliveries.c.received_at)
        .limit(1)
    )
    asked = deliveries.c.id.in_(first.scalar_subquery())
    connection.execute(update(deliveries).where(asked).values(**values))
