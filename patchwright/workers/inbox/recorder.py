"""Write a delivery and the request in it, in the transaction that is given."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, bindparam, update

from patchwright.core.commands import (
    CommandArgument,
    Verb,
    definition_of,
    parse_command,
)
from patchwright.core.events.actions import Message
from patchwright.core.events.payload import Source
from patchwright.core.text.document.reader import is_to_somebody_else, own_words
from patchwright.core.types.base import ConversationId, Ids, JobId
from patchwright.core.types.threads import ThreadRef
from patchwright.core.types.triggers import (
    Ignored,
    Notice,
    RepositoryMoved,
    ThreadClosed,
    Trigger,
    TriggerKind,
)
from patchwright.core.webhook import Delivery, DeliveryVerdict, InboxResult
from patchwright.resolver.job import JobState
from patchwright.resolver.run_store import clean_trigger
from patchwright.workers.db.database import insert_once
from patchwright.workers.db.tables import deliveries
from patchwright.workers.inbox.lifecycle_events import LifecycleEvents, start_automatic
from patchwright.workers.store.events import EventStore, append_row
from patchwright.workers.store.jobs import (
    change_trigger,
    find_active_job,
    find_active_state,
    is_about_to_wait,
    wake_job,
)
from patchwright.workers.store.leases import lock_conversation
from patchwright.workers.store.requests import insert_job
from patchwright.workers.store.threads import (
    find_conversation,
    follow_thread,
    keep_audience,
    note_event_time,
    start_conversation,
)

# The table keeps what explains a delivery, and nothing that proves who sent it.
_PROVING: Final = ("signature", "token", "authorization")
# The text that the run gets instead of a comment with fewer readers than its answer.
LEFT_OUT: Final = (
    "[A comment with restricted readers was left out, because more people can read "
    "the answer. Its author can ask again in a comment that everybody can read.]"
)
_NOTE: Final = update(deliveries).where(deliveries.c.id == bindparam("row_id"))


@dataclass(frozen=True)
class Recorder:
    """Knows a delivery by its id, and a request by its meaning."""

    events: EventStore
    ids: Ids

    def record(self, connection: Connection, delivery: Delivery) -> InboxResult:
        row = self._row(delivery)
        match delivery.reading:
            case Ignored(reason=reason):
                ignored = {"verdict": DeliveryVerdict.IGNORED, "reason": reason}
                is_new = insert_once(connection, deliveries, row | ignored)
                return InboxResult(
                    DeliveryVerdict.IGNORED if is_new else DeliveryVerdict.DUPLICATE
                )
            case Trigger() as trigger:
                # From here on nothing knows the words that may hold a secret.
                clean = clean_trigger(self.events.redact, trigger)
                return self._request(connection, row, delivery, clean)
            case notice:
                return self._notice(connection, row, delivery, notice)

    @cached_property
    def _noticing(self) -> LifecycleEvents:
        return LifecycleEvents(self.events, self.ids)

    def _notice(
        self,
        connection: Connection,
        row: dict[str, Any],
        delivery: Delivery,
        notice: Notice,
    ) -> InboxResult:
        key = _key_of(notice, delivery.body)
        noting = {"verdict": DeliveryVerdict.NOTED, "trigger_key": key}
        if not insert_once(connection, deliveries, row | noting):
            insert_once(
                connection, deliveries, row | {"verdict": DeliveryVerdict.DUPLICATE}
            )
            return InboxResult(DeliveryVerdict.DUPLICATE)
        noted = self._noticing.note(connection, notice, delivery.received_at)
        return InboxResult(
            DeliveryVerdict.NOTED,
            due=noted.due,
            other_conversations=noted.other_conversations,
        )

    def _request(
        self,
        connection: Connection,
        row: dict[str, Any],
        delivery: Delivery,
        trigger: Trigger,
    ) -> InboxResult:
        asking = {"verdict": DeliveryVerdict.ACCEPTED, "trigger_key": trigger.key}
        if insert_once(connection, deliveries, row | asking):
            begin = self._begin_of(trigger)
            return begin(connection, row["id"], delivery, trigger)
        # Another delivery may be the same request: this one is stored as well.
        insert_once(
            connection, deliveries, row | {"verdict": DeliveryVerdict.DUPLICATE}
        )
        return InboxResult(DeliveryVerdict.DUPLICATE)

    def _begin_of(
        self, trigger: Trigger
    ) -> Callable[[Connection, str, Delivery, Trigger], InboxResult]:
        if trigger.kind.is_automatic:
            return self._record_automatic
        return (
            self._record_reply
            if trigger.kind is TriggerKind.REPLY
            else self._record_request
        )

    def _row(self, delivery: Delivery) -> dict[str, Any]:
        return {
            "id": self.ids.new(),
            "service": delivery.service,
            "delivery_id": delivery.id,
            "received_at": delivery.received_at,
            "headers": json.dumps(_without_credentials(delivery.headers)),
            # It was read before it came here: what is in it has no reason to stay.
            "body": b"",
        }

    def _record_automatic(
        self, connection: Connection, row_id: str, delivery: Delivery, trigger: Trigger
    ) -> InboxResult:
        now = delivery.received_at
        started = start_automatic(connection, self.ids, trigger, now)
        if isinstance(started, InboxResult):
            ids = {"conversation_id": started.conversation_id, "job_id": started.job_id}
            _update_delivery(connection, row_id, **ids)
            return started
        # The same may be worth a job later.
        ignored = {"verdict": DeliveryVerdict.IGNORED, "reason": started.reason}
        _update_delivery(connection, row_id, **ignored, trigger_key=None)
        return InboxResult(DeliveryVerdict.IGNORED)

    def _record_reply(
        self, connection: Connection, row_id: str, delivery: Delivery, trigger: Trigger
    ) -> InboxResult:
        """Take what mentions nobody as the answer where a run waits for one."""
        follow_thread(connection, trigger.thread)
        found = _lock_conversation_of(connection, trigger.thread)
        active = find_active_state(connection, found) if found else None
        answer = _as_answer(trigger)
        if active and answer and (_stops(answer) or _waits(connection, *active)):
            return self._record_request(connection, row_id, delivery, answer)
        # Its key stays: found again later, it must not answer a later question.
        _update_delivery(
            connection,
            row_id,
            verdict=DeliveryVerdict.IGNORED,
            reason="not-asked",
        )
        return InboxResult(DeliveryVerdict.IGNORED)

    def _record_request(
        self, connection: Connection, row_id: str, delivery: Delivery, trigger: Trigger
    ) -> InboxResult:
        conversation_id = self._conversation(connection, delivery, trigger)
        note_event_time(connection, trigger.thread, trigger.at)
        active = find_active_state(connection, conversation_id)
        if active is not None:
            job_id, state = active
            trigger = _visible_to_thread(connection, trigger, conversation_id)
            joined = self._join(connection, row_id, trigger, conversation_id, job_id)
            if state is not JobState.WAITING_USER:
                return joined
            wake_job(connection, job_id, delivery.received_at)
            return replace(joined, wakes=True)
        keep_audience(connection, trigger.thread)
        job_id = JobId(self.ids.new())
        insert_job(connection, job_id, conversation_id, trigger, delivery.received_at)
        _update_delivery(
            connection, row_id, conversation_id=conversation_id, job_id=job_id
        )
        return InboxResult(DeliveryVerdict.ACCEPTED, job_id, conversation_id)

    def _join(
        self,
        connection: Connection,
        row_id: str,
        trigger: Trigger,
        conversation_id: ConversationId,
        job_id: JobId,
    ) -> InboxResult:
        message = self.events.new_event(Source.USER, Message(text=trigger.request))
        _update_delivery(
            connection,
            row_id,
            verdict=DeliveryVerdict.JOINED,
            trigger=trigger.model_dump_json(),
            conversation_id=conversation_id,
            job_id=job_id,
            event_id=append_row(connection, conversation_id, message),
        )
        return InboxResult(DeliveryVerdict.JOINED, job_id, conversation_id)

    def _conversation(
        self, connection: Connection, delivery: Delivery, trigger: Trigger
    ) -> ConversationId:
        """Return the thread's conversation, locked."""
        follow_thread(connection, trigger.thread)
        if known := _lock_conversation_of(connection, trigger.thread):
            return known
        start_conversation(
            connection, self.ids, trigger.thread, trigger.title, delivery.received_at
        )
        # Another process may just have started it.
        found = _lock_conversation_of(connection, trigger.thread)
        if found is None:
            raise LookupError(
                f"the conversation of {trigger.thread} was added and removed again"
            )
        return found


def _key_of(notice: Notice, body: bytes) -> str | None:
    """Return the name of a notice by meaning, or None.

    Two renames of a repository never have the same name, because the repository changed
    between them.
    """
    match notice:
        case ThreadClosed():
            return notice.key
        case RepositoryMoved() if body:
            return f"{notice.old}:moved:{sha256(body).hexdigest()}"
        case _:
            return None


def _lock_conversation_of(
    connection: Connection, thread: ThreadRef
) -> ConversationId | None:
    """Lock the conversation that a thread is part of, and return it.

    While we wait for the lock, the thread may be moved to another one.
    """
    found, locked = find_conversation(connection, thread), None
    while found is not None and found != locked:
        lock_conversation(connection, found)
        found, locked = find_conversation(connection, thread), found
    return found


def _visible_to_thread(
    connection: Connection, trigger: Trigger, conversation_id: ConversationId
) -> Trigger:
    """Keep words that not everybody may read out of a run that answers to everybody.

    A run that waits in that thread has said nothing of them yet: from here on it
    answers to those who may read them. To one that works, its words are left out.
    """
    thread = trigger.thread
    if not thread.audience:
        return trigger
    job = find_active_job(connection, conversation_id)
    asked_in = job.trigger.thread if job else None
    if job is None or asked_in is None:
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
    """Leave out what only some may read; of a command its verb and amount stay."""
    command = parse_command(trigger.request)
    if command is None:
        return trigger.replace(request=LEFT_OUT, text=LEFT_OUT)
    takes_amount = definition_of(command.verb).argument is CommandArgument.AMOUNT
    has_amount = takes_amount and not command.fault
    amount = f" {command.argument}" if has_amount else ""
    return trigger.replace(request=f"{command.verb}{amount}".strip(), text=LEFT_OUT)


def _as_answer(trigger: Trigger) -> Trigger | None:
    """Return what a comment without a mention says to a run; None if it says nothing.

    What bots say and what begins with somebody's mention is for others. A command may
    stand below a quotation; in an answer the quotation can be what makes sense of it.
    """
    words = own_words(trigger.request)
    if trigger.actor.is_bot or not words or is_to_somebody_else(words):
        return None
    return trigger.replace(request=words) if parse_command(words) else trigger


def _waits(connection: Connection, job_id: JobId, state: JobState) -> bool:
    """Tell whether a run waits for an answer, or shows its question just now."""
    if state is JobState.DELIVERING:
        return is_about_to_wait(connection, job_id)
    return state is JobState.WAITING_USER


def _stops(trigger: Trigger) -> bool:
    """Tell whether it is a word, or a sign, that counts at any time."""
    command = parse_command(trigger.request)
    return command is not None and command.verb is Verb.STOP


def _update_delivery(connection: Connection, row_id: str, **values: object) -> None:
    connection.execute(_NOTE, {"row_id": row_id, **values})


def _without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    """Leave nothing that proves who sent a delivery."""
    return {
        name: value
        for name, value in headers.items()
        if not any(word in name for word in _PROVING)
    }
