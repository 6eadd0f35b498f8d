"""Write a delivery and what it asks for, in the transaction it is given."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, bindparam, update

from patchwright.core.events.types import Message, Source
from patchwright.core.text.commands import Verb, parse_command
from patchwright.core.types.ids import ConversationId, Ids, JobId
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.core.types.triggers import (
    Ignored,
    Notice,
    RepositoryMoved,
    ThreadClosed,
    Trigger,
    TriggerKind,
)
from patchwright.workers.db.tables import deliveries
from patchwright.workers.db.upsert import insert_once
from patchwright.workers.intake.automatic import start_automatic
from patchwright.workers.intake.delivery import (
    Delivery,
    Stored,
    Verdict,
    headers_to_keep,
)
from patchwright.workers.intake.notices import Noticing
from patchwright.workers.store.active import (
    change_trigger,
    find_active,
    find_active_state,
    wake,
)
from patchwright.workers.store.cleaning import clean_trigger
from patchwright.workers.store.event_rows import append_row
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.fencing import lock_conversation
from patchwright.workers.store.job import JobState
from patchwright.workers.store.requests import insert_job
from patchwright.workers.store.threads import (
    find_conversation,
    follow_thread,
    keep_audience,
    note_told,
    start_conversation,
)

# What the run is told in place of a comment that more people would read in its answer.
LEFT_OUT: Final = (
    "[A comment that not everybody may read was left out, since more people read the "
    "answer. Whoever wrote it can ask again in a comment for all readers.]"
)
_NOTE: Final = update(deliveries).where(deliveries.c.id == bindparam("row_id"))


@dataclass(frozen=True)
class Recorder:
    """Knows a delivery by its id, and a request by its meaning."""

    events: EventStore
    ids: Ids

    def record(self, connection: Connection, delivery: Delivery) -> Stored:
        row = self._row(delivery)
        match delivery.reading:
            case Ignored(reason=reason):
                ignored = {"verdict": Verdict.IGNORED, "reason": reason}
                is_new = insert_once(connection, deliveries, row | ignored)
                return Stored(Verdict.IGNORED if is_new else Verdict.DUPLICATE)
            case Trigger() as trigger:
                # From here on nothing knows the words that may hold a secret.
                clean = clean_trigger(self.events.redact, trigger)
                return self._request(connection, row, delivery, clean)
            case notice:
                return self._notice(connection, row, delivery, notice)

    @cached_property
    def _noticing(self) -> Noticing:
        return Noticing(self.events, self.ids)

    def _notice(
        self,
        connection: Connection,
        row: dict[str, Any],
        delivery: Delivery,
        notice: Notice,
    ) -> Stored:
        key = _key_of(notice, delivery.body)
        noting = {"verdict": Verdict.NOTED, "trigger_key": key}
        if not insert_once(connection, deliveries, row | noting):
            insert_once(connection, deliveries, row | {"verdict": Verdict.DUPLICATE})
            return Stored(Verdict.DUPLICATE)
        noted = self._noticing.note(connection, notice, delivery.received_at)
        return Stored(Verdict.NOTED, due=noted.due, other_conversations=noted.other_conversations)

    def _request(
        self,
        connection: Connection,
        row: dict[str, Any],
        delivery: Delivery,
        trigger: Trigger,
    ) -> Stored:
        asking = {"verdict": Verdict.ACCEPTED, "trigger_key": trigger.key}
        if insert_once(connection, deliveries, row | asking):
            begin = self._begin_of(trigger)
            return begin(connection, row["id"], delivery, trigger)
        # Another delivery may have asked for the same: this one is kept beside it.
        insert_once(connection, deliveries, row | {"verdict": Verdict.DUPLICATE})
        return Stored(Verdict.DUPLICATE)

    def _begin_of(
        self, trigger: Trigger
    ) -> Callable[[Connection, str, Delivery, Trigger], Stored]:
        if trigger.kind.is_automatic:
            return self._automatic
        return self._replied if trigger.kind is TriggerKind.REPLY else self._record_request

    def _row(self, delivery: Delivery) -> dict[str, Any]:
        return {
            "id": self.ids.new(),
            "service": delivery.service,
            "delivery_id": delivery.id,
            "received_at": delivery.received_at,
            "headers": json.dumps(headers_to_keep(delivery.headers)),
            # It was read before it came here: what is in it has no reason to stay.
            "body": b"",
        }

    def _automatic(
        self, connection: Connection, row_id: str, delivery: Delivery, trigger: Trigger
    ) -> Stored:
        now = delivery.received_at
        started = start_automatic(connection, self.ids, trigger, now)
        if isinstance(started, Stored):
            ids = {"conversation_id": started.conversation_id, "job_id": started.job_id}
            _note(connection, row_id, **ids)
            return started
        # The same may be worth a job later.
        ignored = {"verdict": Verdict.IGNORED, "reason": started.reason}
        _note(connection, row_id, **ignored, trigger_key=None)
        return Stored(Verdict.IGNORED)

    def _replied(
        self, connection: Connection, row_id: str, delivery: Delivery, trigger: Trigger
    ) -> Stored:
        """Take what was said to nobody for an answer, where one is waited for."""
        follow_thread(connection, trigger.thread)
        found = _lock_found(connection, trigger.thread)
        active = find_active_state(connection, found) if found else None
        if active is not None and (
            _stops(trigger) or active[1] is JobState.WAITING_USER
        ):
            return self._record_request(connection, row_id, delivery, trigger)
        # Its key stays: found again later, it must not answer a later question.
        _note(
            connection,
            row_id,
            verdict=Verdict.IGNORED,
            reason="not-asked",
        )
        return Stored(Verdict.IGNORED)

    def _record_request(
        self, connection: Connection, row_id: str, delivery: Delivery, trigger: Trigger
    ) -> Stored:
        conversation_id = self._conversation(connection, delivery, trigger)
        note_told(connection, trigger.thread, trigger.at)
        active = find_active_state(connection, conversation_id)
        if active is not None:
            job_id, state = active
            trigger = _for_its_readers(connection, trigger, conversation_id)
            joined = self._join(connection, row_id, trigger, conversation_id, job_id)
            if state is not JobState.WAITING_USER:
                return joined
            wake(connection, job_id, delivery.received_at)
            return replace(joined, wakes=True)
        keep_audience(connection, trigger.thread)
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
        """Return the thread's conversation, locked."""
        follow_thread(connection, trigger.thread)
        if known := _lock_found(connection, trigger.thread):
            return known
        start_conversation(
            connection, self.ids, trigger.thread, trigger.title, delivery.received_at
        )
        # Another process may just have started it.
        found = _lock_found(connection, trigger.thread)
        if found is None:
            raise LookupError(f"the conversation of {trigger.thread} came and went")
        return found


def _key_of(notice: Notice, body: bytes) -> str | None:
    """Return the name of a notice by meaning, None where it has none.

    No two renames of a repository are told in the same words: what it is like has
    changed between them.
    """
    match notice:
        case ThreadClosed():
            return notice.key
        case RepositoryMoved() if body:
            return f"{notice.old}:moved:{sha256(body).hexdigest()}"
        case _:
            return None


def _lock_found(connection: Connection, thread: ThreadRef) -> ConversationId | None:
    """Lock the conversation that a thread is part of, and return it.

    While we wait for the lock, the thread may be moved to another one.
    """
    found, locked = find_conversation(connection, thread), None
    while found is not None and found != locked:
        lock_conversation(connection, found)
        found, locked = find_conversation(connection, thread), found
    return found


def _for_its_readers(
    connection: Connection, trigger: Trigger, conversation_id: ConversationId
) -> Trigger:
    """Keep words that not everybody may read out of a run that answers to everybody.

    A run that waits in that thread has said nothing of them yet: from here on it
    answers to those who may read them. To one that works, its words are left out.
    """
    thread = trigger.thread
    if not (isinstance(thread, TalkThread) and thread.audience):
        return trigger
    job = find_active(connection, conversation_id)
    asked_in = job.trigger.thread if job else None
    if job is None or not isinstance(asked_in, TalkThread):
        return _without_words(trigger)
    if asked_in == thread and asked_in.audience == thread.audience:
        return trigger
    if asked_in == thread and job.state is JobState.WAITING_USER:
        answered = job.trigger.replace(thread=thread)
        change_trigger(connection, job.id, answered)
        keep_audience(connection, thread)
        return trigger
    return _without_words(trigger)


def _without_words(trigger: Trigger) -> Trigger:
    if parse_command(trigger.request) is not None:
        return trigger
    return trigger.replace(request=LEFT_OUT, text=LEFT_OUT)


def _stops(trigger: Trigger) -> bool:
    """Tell whether it is a word, or a sign, that counts at any time."""
    command = parse_command(trigger.request)
    return command is not None and command.verb is Verb.STOP


def _note(connection: Connection, row_id: str, **values: object) -> None:
    connection.execute(_NOTE, {"row_id": row_id, **values})
