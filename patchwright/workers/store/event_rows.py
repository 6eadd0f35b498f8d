"""Write events into the table and read them back, one row each."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from pydantic import TypeAdapter
from sqlalchemy import (
    Connection,
    Integer,
    String,
    Text,
    bindparam,
    func,
    insert,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import OperationalError

from patchwright.core.errors import LeaseLostError
from patchwright.core.events.files import StoredEvent
from patchwright.core.events.types import AnyPayload, Event, Source
from patchwright.core.types.ids import ConversationId
from patchwright.workers.db.columns import AwareTime, sqlite_time_text
from patchwright.workers.db.notices import CHANNEL
from patchwright.workers.db.tables import conversations, events
from patchwright.workers.store.fencing import lock_conversation

_PAYLOAD: Final[TypeAdapter[AnyPayload]] = TypeAdapter(AnyPayload)

_OURS: Final = conversations.c.id == bindparam("of", type_=String())
_FENCE: Final = bindparam("fence", type_=Integer())
_NEXT_ID: Final = (
    select(
        func.coalesce(func.max(events.c.id), literal_column("0")) + literal_column("1")
    )
    .where(events.c.conversation_id == bindparam("of", type_=String()))
    .scalar_subquery()
)
# One statement, so that SQLite, which needs no lock of ours, has only this to do.
_APPEND: Final = insert(events).from_select(
    ["conversation_id", "id", "at", "source", "cause", "kind", "payload"],
    select(
        conversations.c.id,
        _NEXT_ID,
        bindparam("at", type_=AwareTime()),
        bindparam("source", type_=String()),
        bindparam("cause", type_=Integer()),
        bindparam("kind", type_=String()),
        bindparam("payload", type_=Text()),
    ).where(_OURS, or_(_FENCE.is_(None), conversations.c.fence == _FENCE)),
)
# PostgreSQL tells those who listen when the transaction is committed, and only then.
# https://www.postgresql.org/docs/current/sql-notify.html
_APPEND_AND_NOTIFY: Final = _APPEND.returning(
    events.c.id, func.pg_notify(CHANNEL, events.c.conversation_id)
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
    connection: Connection,
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
    connection: Connection, values: Mapping[str, object]
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
