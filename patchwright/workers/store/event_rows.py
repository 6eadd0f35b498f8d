"""Write events into the table and read them back, one row each."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter
from sqlalchemy import (
    Connection,
    Integer,
    String,
    Text,
    bindparam,
    func,
    insert,
    or_,
    select,
)

from patchwright.core.errors import LeaseLostError
from patchwright.core.events.types import AnyPayload, Event, Source
from patchwright.core.types.ids import ConversationId
from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.tables import conversations, events
from patchwright.workers.store.fencing import lock_conversation

_PAYLOAD: Final[TypeAdapter[AnyPayload]] = TypeAdapter(AnyPayload)

_OURS: Final = conversations.c.id == bindparam("of", type_=String())
_FENCE: Final = bindparam("fence", type_=Integer())
_NEXT_ID: Final = (
    select(func.coalesce(func.max(events.c.id), 0) + 1)
    .where(events.c.conversation_id == bindparam("of", type_=String()))
    .scalar_subquery()
)
# One statement, so that SQLite, which needs no lock of ours, has only this to do.
_APPEND: Final = (
    insert(events)
    .from_select(
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
    .returning(events.c.id)
)

COLUMNS: Final = (
    events.c.id,
    events.c.at,
    events.c.source,
    events.c.cause,
    events.c.payload,
)


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
    if connection.dialect.name != "sqlite":
        lock_conversation(connection, conversation_id)
    values = {
        "of": conversation_id,
        "fence": fence,
        "at": event.at,
        "source": event.source.value,
        "cause": event.cause,
        "kind": event.kind,
        "payload": event.payload,
    }
    event_id: int | None = connection.execute(_APPEND, values).scalar_one_or_none()
    if event_id is not None:
        return event_id
    if fence is None:
        raise LookupError(f"there is no conversation {conversation_id}")
    raise LeaseLostError("another worker holds this conversation's job now")


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
