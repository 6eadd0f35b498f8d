"""The event log of a conversation, kept in the database."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import structlog
from pydantic import ConfigDict, JsonValue, TypeAdapter
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.clock import Clock
from patchwright.core.events.doorbell import Notifier
from patchwright.core.events.files import StoredEvent
from patchwright.core.events.follow import follow_log
from patchwright.core.events.transfer import LogNotEmptyError
from patchwright.core.events.types import Event, Known, Source
from patchwright.core.text.surrogates import well_formed_tree
from patchwright.core.types.ids import ConversationId
from patchwright.workers.db.database import Database
from patchwright.workers.store.event_pages import EventRange, Row, make_page_query
from patchwright.workers.store.event_rows import (
    NewEvent,
    append_row,
    entry_of,
    event_of,
)
from patchwright.workers.store.job import Lease

# A log that could not be read, or a bell that was not rung, is looked at again.
LOOK_AGAIN_S: Final = 1.0
_PAGE: Final = 500

# Half as long as the standard library's.
_JSON: Final[TypeAdapter[Any]] = TypeAdapter(
    Any, config=ConfigDict(ser_json_inf_nan="constants")
)

Redact = Callable[[JsonValue], JsonValue]

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class EventStore:
    """Opens event logs; one per process, so that its readers hear its writers.

    They hear those of other processes if the doorbell does.
    """

    database: Database
    redact: Redact
    clock: Clock
    notifier: Notifier

    def open(
        self, conversation_id: ConversationId, lease: Lease | None = None
    ) -> "SqlEventLog":
        """Return the log of a conversation; with a lease, appending depends on it."""
        return SqlEventLog(self, conversation_id, lease.fence if lease else None)

    def new_event(
        self, source: Source, payload: Known, cause: int | None = None
    ) -> NewEvent:
        """Make what can be stored, without secrets."""
        return NewEvent(
            at=self.clock.now(),
            source=source,
            cause=cause,
            kind=payload.kind,
            payload=self._clean(payload.model_dump(mode="json")),
        )

    def restored(self, entry: StoredEvent) -> NewEvent:
        """Make what can be stored of an event that was stored elsewhere."""
        return NewEvent(
            at=entry.at,
            source=entry.source,
            cause=entry.cause,
            kind=str(entry.payload["kind"]),
            payload=self._clean(entry.payload),
        )

    def _clean(self, payload: dict[str, JsonValue]) -> str:
        clean = self.redact(well_formed_tree(payload))
        return _JSON.dump_json(clean).decode()


class SqlEventLog:
    """An `EventLog` in the database; see there for what it promises."""

    def __init__(
        self, store: EventStore, conversation_id: ConversationId, fence: int | None
    ) -> None:
        self._store = store
        self._conversation_id = conversation_id
        self._fence = fence

    def append(self, source: Source, payload: Known, cause: int | None = None) -> Event:
        new = self._store.new_event(source, payload, cause)
        with self._store.database.appending() as connection:
            event_id = append_row(connection, self._conversation_id, new, self._fence)
        self._store.notifier.notify(self._conversation_id)
        return event_of(event_id, new.at, new.source, new.cause, new.payload)

    def read(
        self,
        start_id: int = 1,
        end_id: int | None = None,
        *,
        limit: int | None = None,
        reverse: bool = False,
        kinds: frozenset[str] | None = None,
    ) -> Sequence[Event]:
        part = EventRange(start_id, end_id, limit, reverse, kinds)
        return [event_of(*row) for row in self._rows(part)]

    def entries(self) -> Iterator[StoredEvent]:
        start_id = 1
        while rows := self._rows(EventRange(start_id, limit=_PAGE)):
            yield from (entry_of(*row) for row in rows)
            start_id += len(rows)

    def restore(self, entries: Iterable[StoredEvent]) -> None:
        with self._store.database.writing() as connection:
            for entry in entries:
                new = self._store.restored(entry)
                event_id = append_row(
                    connection, self._conversation_id, new, self._fence
                )
                if event_id != entry.id:
                    raise LogNotEmptyError("the conversation has events already")
        self._store.notifier.notify(self._conversation_id)

    def listen(self) -> AbstractContextManager[threading.Event]:
        return self._store.notifier.listen(self._conversation_id)

    @contextmanager
    def subscribe(
        self, reader: Callable[[Event], None], after_id: int = 0
    ) -> Iterator[None]:
        with (
            self.listen() as wakeup,
            follow_log(
                self._next_page,
                reader,
                wakeup,
                after_id=after_id,
                look_again_s=LOOK_AGAIN_S,
            ),
        ):
            yield

    def _next_page(self, start_id: int) -> Sequence[Event]:
        try:
            return self.read(start_id, limit=_PAGE)
        except SQLAlchemyError as error:
            log.warning("log_cannot_be_followed", error=type(error).__name__)
            return ()

    def _rows(self, part: EventRange) -> Sequence[Row]:
        query, values = make_page_query(self._conversation_id, part)
        with self._store.database.reading() as connection:
            return connection.execute(query, values).all()
