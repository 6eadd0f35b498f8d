"""The event log of a conversation, kept in the database."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from pydantic import JsonValue
from sqlalchemy import Select, select
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.clock import Clock
from patchwright.core.events.doorbell import Doorbell
from patchwright.core.events.follow import follow
from patchwright.core.events.types import Event, Known, Source
from patchwright.core.text.surrogates import well_formed_tree
from patchwright.core.types.ids import ConversationId
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import events
from patchwright.workers.store.event_rows import (
    COLUMNS,
    NewEvent,
    append_row,
    event_of,
)
from patchwright.workers.store.job import Lease

# The doorbell is heard in this process only; events of others are found by looking.
LOOK_AGAIN_S: Final = 1.0
_PAGE: Final = 500

Redact = Callable[[JsonValue], JsonValue]

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class EventStore:
    """Opens event logs; one per process, so that its readers hear its writers."""

    database: Database
    redact: Redact
    clock: Clock
    doorbell: Doorbell

    def open(
        self, conversation_id: ConversationId, lease: Lease | None = None
    ) -> "SqlEventLog":
        """Return the log of a conversation; with a lease, appending depends on it."""
        return SqlEventLog(self, conversation_id, lease.fence if lease else None)

    def new_event(
        self, source: Source, payload: Known, cause: int | None = None
    ) -> NewEvent:
        """Make what can be stored, without secrets."""
        clean = self.redact(well_formed_tree(payload.model_dump(mode="json")))
        return NewEvent(
            at=self.clock.now(),
            source=source,
            cause=cause,
            kind=payload.kind,
            payload=json.dumps(clean),
        )


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
        with self._store.database.writing() as connection:
            event_id = append_row(connection, self._conversation_id, new, self._fence)
        self._store.doorbell.ring(self._conversation_id)
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
        order = events.c.id.desc() if reverse else events.c.id
        query = self._range(start_id, end_id).order_by(order).limit(limit)
        if kinds is not None:
            query = query.where(events.c.kind.in_(kinds))
        with self._store.database.reading() as connection:
            return [event_of(*row) for row in connection.execute(query)]

    @contextmanager
    def subscribe(
        self, reader: Callable[[Event], None], after_id: int = 0
    ) -> Iterator[None]:
        with (
            self._store.doorbell.listen(self._conversation_id) as bell,
            follow(
                self._next_page,
                reader,
                bell,
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

    def _range(
        self, start_id: int, end_id: int | None
    ) -> Select[int, datetime, str, int | None, str]:
        query = select(*COLUMNS).where(
            events.c.conversation_id == self._conversation_id, events.c.id >= start_id
        )
        return query if end_id is None else query.where(events.c.id <= end_id)
