"""Write a delivery and what it asks for, in the transaction it is given."""

import json
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, bindparam, select, update

from patchwright.core.events.types import Message, Source
from patchwright.core.types.ids import ConversationId, Ids, JobId
from patchwright.core.types.triggers import Ignored, Trigger
from patchwright.workers.db.tables import deliveries, jobs
from patchwright.workers.db.upsert import insert_once
from patchwright.workers.intake.delivery import (
    Delivery,
    Stored,
    Verdict,
    headers_to_keep,
)
from patchwright.workers.store.event_rows import append_row
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.fencing import lock_conversation
from patchwright.workers.store.job import JobState
from patchwright.workers.store.requests import insert_job
from patchwright.workers.store.threads import find_conversation, start_conversation

_ACTIVE_JOB: Final = select(jobs.c.id, jobs.c.state).where(
    jobs.c.conversation_id == bindparam("conversation"), jobs.c.ended_at.is_(None)
)
_WAKE: Final = (
    update(jobs)
    .where(jobs.c.id == bindparam("job"))
    .values(state=JobState.QUEUED, submitted_at=None)
)
_NOTE: Final = update(deliveries).where(deliveries.c.id == bindparam("row_id"))


@dataclass(frozen=True)
class Recorder:
    """Knows a delivery by its id, and a request by its meaning."""

    events: EventStore
    ids: Ids

    def record(self, connection: Connection, delivery: Delivery) -> Stored:
        row = self._row(delivery)
        reading = delivery.reading
        if not isinstance(reading, Trigger):
            reason = reading.reason if isinstance(reading, Ignored) else "noted"
            ignored = {"verdict": Verdict.IGNORED, "reason": reason}
            is_new = insert_once(connection, deliveries, row | ignored)
            return Stored(Verdict.IGNORED if is_new else Verdict.DUPLICATE)
        asking = {"verdict": Verdict.ACCEPTED, "trigger_key": reading.key}
        if insert_once(connection, deliveries, row | asking):
            return self._start_or_join(connection, row["id"], delivery, reading)
        # Another delivery may have asked for the same: this one is kept beside it.
        insert_once(connection, deliveries, row | {"verdict": Verdict.DUPLICATE})
        return Stored(Verdict.DUPLICATE)

    def _row(self, delivery: Delivery) -> dict[str, Any]:
        return {
            "id": self.ids.new(),
            "service": delivery.service,
            "delivery_id": delivery.id,
            "received_at": delivery.received_at,
            "headers": json.dumps(headers_to_keep(delivery.headers)),
            "body": delivery.body,
        }

    def _start_or_join(
        self, connection: Connection, row_id: str, delivery: Delivery, trigger: Trigger
    ) -> Stored:
        conversation_id = self._conversation(connection, delivery, trigger)
        lock_conversation(connection, conversation_id)
        active = _active_job(connection, conversation_id)
        if active is not None:
            job_id, state = active
            joined = self._join(connection, row_id, trigger, conversation_id, job_id)
            is_waiting = state == JobState.WAITING_USER
            return _wake(connection, joined) if is_waiting else joined
        job_id = JobId(self.ids.new())
        insert_job(connection, job_id, conversation_id, trigger, delivery.received_at)
        _note(connection, row_id, conversation_id=conversation_id, job_id=job_id)
        return Stored(Verdict.ACCEPTED, job_id, conversation_id)

    def _join(
        self,
        connection: Connection,
        row_id: str,
        trigger: Trigger,
        conversation_id: ConversationId,
        job_id: JobId,
    ) -> Stored:
        message = self.events.new_event(Source.USER, Message(text=trigger.request))
        _note(
            connection,
            row_id,
            verdict=Verdict.JOINED,
            trigger=trigger.model_dump_json(),
            conversation_id=conversation_id,
            job_id=job_id,
            event_id=append_row(connection, conversation_id, message),
        )
        return Stored(Verdict.JOINED, job_id, conversation_id)

    def _conversation(
        self, connection: Connection, delivery: Delivery, trigger: Trigger
    ) -> ConversationId:
        found = find_conversation(connection, trigger.thread) or start_conversation(
            connection, self.ids, trigger.thread, trigger.title, delivery.received_at
        )
        # Where another process has just started it, it is there now.
        found = found or find_conversation(connection, trigger.thread)
        if found is None:
            raise LookupError(f"the conversation of {trigger.thread} came and went")
        return found


def _active_job(
    connection: Connection, conversation_id: ConversationId
) -> tuple[JobId, str] | None:
    found = connection.execute(_ACTIVE_JOB, {"conversation": conversation_id})
    row = found.one_or_none()
    return (JobId(row.id), row.state) if row else None


def _wake(connection: Connection, joined: Stored) -> Stored:
    """Let a job that waits for a person see what this one said."""
    connection.execute(_WAKE, {"job": joined.job_id})
    return replace(joined, wakes=True)


def _note(connection: Connection, row_id: str, **values: object) -> None:
    connection.execute(_NOTE, {"row_id": row_id, **values})
