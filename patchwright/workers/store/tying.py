"""Tie threads together: what is said in any of them belongs to one conversation."""

from datetime import datetime

from sqlalchemy import Connection, update

from patchwright.core.types.ids import ConversationId, Ids, JobId
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations, deliveries, threads
from patchwright.workers.db.upsert import insert_once
from patchwright.workers.store.active import change_trigger, find_active_state
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.fencing import lock_conversation, require_lease
from patchwright.workers.store.job import Lease
from patchwright.workers.store.moving import RequestMover, first_delivery_of
from patchwright.workers.store.requests import JoinedRequest
from patchwright.workers.store.threads import find_conversation, thread_row


class ConversationLinkStore:
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
                connection.execute(
                    update(conversations)
                    .where(conversations.c.id == lease.conversation_id)
                    .values(repo=str(place))
                )

    def swap(self, lease: Lease, joined: JoinedRequest, first: Trigger) -> None:
        """Have the job be about what had joined it, and the first request join it."""
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
        """Let a thread that had no message yet be the one that was begun for it."""
        with self._database.writing() as connection:
            require_lease(connection, lease)
            row = thread_row(lease.conversation_id, new, now)
            insert_once(connection, threads, row)
            connection.execute(threads.delete().where(threads.c.key == str(old)))

    def link(self, lease: Lease, ref: ThreadRef, now: datetime) -> ConversationId | None:
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
        self,
        lease: Lease,
        trigger: Trigger,
        there: tuple[ThreadRef, ConversationId],
        now: datetime,
        *,
        joins: bool = True,
    ) -> JobId | None:
        """Have the request go on where that thread is, with all the threads of its own.

        The job ends, and the lease with it. Returns the one that has the request now,
        to be submitted. Nothing is done if the thread is not there any more, or if a
        job works there and the request may not join it.
        """
        thread, into = there
        with self._database.writing() as connection:
            # In one order, so that no two can wait for each other.
            for conversation_id in sorted((lease.conversation_id, into)):
                lock_conversation(connection, conversation_id)
            require_lease(connection, lease)
            is_gone = find_conversation(connection, thread) != into
            if is_gone or not (joins or find_active_state(connection, into) is None):
                return None
            moving = RequestMover(connection, self._events, self._ids, into)
            job_id = moving.move(lease, trigger, now)
        self._events.notifier.notify(into)
        return job_id


def _hand_over(connection: Connection, old: JobId, **values: object) -> None:
    """Have the delivery that asked lead to where its request is now."""
    asked = deliveries.c.id == first_delivery_of(connection, old)
    connection.execute(update(deliveries).where(asked).values(**values))
