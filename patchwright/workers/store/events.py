"""The event log of a conversation in the database."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVarTuple, cast

import sqlalchemy as sa
import structlog
from pydantic import ConfigDict, JsonValue, TypeAdapter
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from patchwright.core.events.jsonl import LogNotEmptyError, StoredEvent
from patchwright.core.events.log import Notifier, follow_log
from patchwright.core.events.payload import Source
from patchwright.core.events.types import AnyPayload, Event, Known
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import well_formed_tree
from patchwright.core.types.base import ConversationId
from patchwright.core.types.errors import LeaseLostError
from patchwright.resolver.job import Lease
from patchwright.workers.db.columns import AwareTime, sqlite_time_text
from patchwright.workers.db.database import Database
from patchwright.workers.db.notifications import CHANNEL
from patchwright.workers.db.tables import conversations, events
from patchwright.workers.store.leases import lock_conversation

# The largest number that fits the column stands for no limit.
_ALL: Final = 2**31 - 1
_COLUMNS: Final = (
    events.c.id,
    events.c.at,
    events.c.source,
    events.c.cause,
    events.c.payload,
)
_OF_CONVERSATION: Final = events.c.conversation_id == sa.bindparam(
    "of", type_=sa.String()
)
_IN_RANGE: Final = events.c.id.between(
    sa.bindparam("first", type_=sa.Integer()), sa.bindparam("last", type_=sa.Integer())
)

_Columns = TypeVarTuple("_Columns")
Row: TypeAlias = tuple[int, datetime, str, int | None, str]
Page: TypeAlias = sa.Select[int, datetime, str, int | None, str]


@dataclass(frozen=True)
class EventRange:
    """Which events are wanted: ids from `start_id` to `end_id`, and of these `kinds`.

    `limit` counts from the end when `reverse` is set.
    """

    start_id: int = 1
    end_id: int | None = None
    limit: int | None = None
    reverse: bool = False
    kinds: frozenset[str] | None = None


def make_page_query(
    conversation_id: ConversationId, part: EventRange
) -> tuple[Page, Mapping[str, object]]:
    """Return a statement for the part, and its values."""
    kinds = sorted(part.kinds or ())
    values: dict[str, object] = {
        "of": conversation_id,
        "first": part.start_id,
        "last": _ALL if part.end_id is None else part.end_id,
        "most": _ALL if part.limit is None else part.limit,
    }
    values |= {_name(number): kind for number, kind in enumerate(kinds)}
    if part.kinds is None:
        return _page(reverse=part.reverse), values
    return _page_of_kinds(len(kinds), reverse=part.reverse), values


@cache
def _page(*, reverse: bool) -> Page:
    return _cut(
        sa.select(*_COLUMNS).where(_OF_CONVERSATION, _IN_RANGE), reverse=reverse
    )


@cache
def _page_of_kinds(count: int, *, reverse: bool) -> Page:
    """Take each kind from its own place in the index.

    With all kinds in one condition, a database sorts every event of these kinds or goes
    through those of all others.
    """
    ids = sa.select(events.c.id).where(_OF_CONVERSATION, _IN_RANGE)
    of_kinds = [
        _cut(ids.where(events.c.kind == _kind(number)), reverse=reverse).subquery()
        for number in range(count)
    ]
    if not of_kinds:
        return sa.select(*_COLUMNS).where(sa.false())
    chosen = sa.union_all(*(sa.select(one.c.id) for one in of_kinds))
    page = sa.select(*_COLUMNS).where(_OF_CONVERSATION, events.c.id.in_(chosen))
    return _cut(page, reverse=reverse)


def _cut(query: sa.Select[*_Columns], *, reverse: bool) -> sa.Select[*_Columns]:
    order = events.c.id.desc() if reverse else events.c.id.asc()
    return query.order_by(order).limit(sa.bindparam("most", type_=sa.Integer()))


def _kind(number: int) -> sa.BindParameter[str]:
    return sa.bindparam(_name(number), type_=sa.String())


def _name(number: int) -> str:
    return f"kind_{number}"


_PAYLOAD: Final[TypeAdapter[AnyPayload]] = TypeAdapter(AnyPayload)

_OURS: Final = conversations.c.id == sa.bindparam("of", type_=sa.String())
_FENCE: Final = sa.bindparam("fence", type_=sa.Integer())
_NEXT_ID: Final = (
    sa.select(
        sa.func.coalesce(sa.func.max(events.c.id), sa.literal_column("0"))
        + sa.literal_column("1")
    )
    .where(events.c.conversation_id == sa.bindparam("of", type_=sa.String()))
    .scalar_subquery()
)
# One statement, so that SQLite, which needs no lock of ours, has only this to do.
_APPEND: Final = sa.insert(events).from_select(
    ["conversation_id", "id", "at", "source", "cause", "kind", "payload"],
    sa.select(
        conversations.c.id,
        _NEXT_ID,
        sa.bindparam("at", type_=AwareTime()),
        sa.bindparam("source", type_=sa.String()),
        sa.bindparam("cause", type_=sa.Integer()),
        sa.bindparam("kind", type_=sa.String()),
        sa.bindparam("payload", type_=sa.Text()),
    ).where(_OURS, sa.or_(_FENCE.is_(None), conversations.c.fence == _FENCE)),
)
# PostgreSQL tells those who listen when the transaction is committed, and only then.
# https://www.postgresql.org/docs/current/sql-notify.html
_APPEND_AND_NOTIFY: Final = _APPEND.returning(
    events.c.id, sa.func.pg_notify(CHANNEL, events.c.conversation_id)
)
# SQLAlchemy takes longer to run a statement than SQLite does, and events are many.
_SQLITE: Final = sqlite.dialect(paramstyle="named")
_APPEND_IN_SQLITE: Final = str(_APPEND.returning(events.c.id).compile(dialect=_SQLITE))


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event that has no id yet; `payload` is JSON, already without secrets."""

    at: datetime
    source: Source
    cause: int | None
    kind: str
    payload: str


def append_row(
    connection: sa.Connection,
    conversation_id: ConversationId,
    event: NewEvent,
    fence: int | None = None,
) -> int:
    """Store an event under the conversation's next id, and return that.

    With a fence that is not the newest one it raises `LeaseLostError`.
    """
    values = {
        "of": conversation_id,
        "fence": fence,
        "at": event.at,
        "source": event.source.value,
        "cause": event.cause,
        "kind": event.kind,
        "payload": event.payload,
    }
    if connection.dialect.name == "sqlite":
        at = sqlite_time_text(event.at)
        event_id = _append_in_sqlite(connection, values | {"at": at})
    else:
        lock_conversation(connection, conversation_id)
        event_id = connection.scalars(_APPEND_AND_NOTIFY, values).one_or_none()
    if event_id is not None:
        return event_id
    if fence is None:
        raise LookupError(f"there is no conversation {conversation_id}")
    raise LeaseLostError("another worker holds this conversation's job now")


def _append_in_sqlite(
    connection: sa.Connection, values: Mapping[str, object]
) -> int | None:
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    try:
        # Asking for all rows, of which there is one, brings the statement to its end.
        rows = driver.execute(_APPEND_IN_SQLITE, values).fetchall()
    except sqlite3.Error as error:
        raise OperationalError(None, None, error) from error
    return next((int(event_id) for (event_id,) in rows), None)


def event_of(
    event_id: int, at: datetime, source: str, cause: int | None, payload: str
) -> Event:
    # Only the payload needs checking: the rest is what the columns' types say.
    return Event.model_construct(
        id=event_id,
        at=at,
        source=Source(source),
        cause=cause,
        payload=_PAYLOAD.validate_json(payload),
    )


def entry_of(
    event_id: int, at: datetime, source: str, cause: int | None, payload: str
) -> StoredEvent:
    """Return the event with all that is stored of it, as `event_of` does not."""
    return StoredEvent(
        id=event_id,
        at=at,
        source=Source(source),
        cause=cause,
        payload=json.loads(payload),
    )


# A log that could not be read, or whose notification was lost, is read again.
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
    """Opens event logs; one per process, so that writers notify readers.

    Writers in other processes are noticed if the notifier receives from them.
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
        return chain.from_iterable(self.entry_pages())

    def entry_pages(
        self, start_id: int = 1, end_id: int | None = None
    ) -> Iterator[Sequence[StoredEvent]]:
        """Yield some entries at a time, read when they are wanted."""
        while rows := self._rows(EventRange(start_id, end_id, limit=_PAGE)):
            yield [entry_of(*row) for row in rows]
            start_id = rows[-1][0] + 1

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
