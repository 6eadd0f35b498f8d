"""Which conversation a thread belongs to."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select

from patchwright.core.types.ids import ConversationId, Ids
from patchwright.core.types.threads import ThreadRef
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations, threads
from patchwright.workers.db.upsert import insert_once

_FIND: Final = select(threads.c.conversation_id).where(
    threads.c.key == bindparam("thread")
)


class ThreadStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def conversation_of(self, thread: ThreadRef) -> ConversationId | None:
        with self._database.reading() as connection:
            return find_conversation(connection, thread)

    def keys_of(self, conversation_id: ConversationId) -> tuple[str, ...]:
        """Return the keys of the conversation's threads, the newest first."""
        query = (
            select(threads.c.key)
            .where(threads.c.conversation_id == conversation_id)
            .order_by(threads.c.linked_at.desc())
        )
        with self._database.reading() as connection:
            return tuple(connection.scalars(query))

    def link(
        self, conversation_id: ConversationId, thread: ThreadRef, now: datetime
    ) -> bool:
        """Make a thread part of a conversation; False if it is part of another.

        Linking it again to its own conversation changes nothing.
        """
        with self._database.writing() as connection:
            insert_once(connection, threads, _row(conversation_id, thread, now))
            return find_conversation(connection, thread) == conversation_id


def find_conversation(
    connection: Connection, thread: ThreadRef
) -> ConversationId | None:
    return connection.scalars(_FIND, {"thread": str(thread)}).one_or_none()


def start_conversation(
    connection: Connection, ids: Ids, thread: ThreadRef, title: str, now: datetime
) -> ConversationId | None:
    """Make a conversation of a thread; None if another process was faster."""
    conversation_id = ConversationId(ids.new())
    row = {
        "id": conversation_id,
        "repo": str(thread.repo),
        "title": title,
        "created_at": now,
    }
    connection.execute(insert(conversations), row)
    if insert_once(connection, threads, _row(conversation_id, thread, now)):
        return conversation_id
    connection.execute(
        delete(conversations).where(conversations.c.id == conversation_id)
    )
    return None


def _row(
    conversation_id: ConversationId, thread: ThreadRef, now: datetime
) -> dict[str, object]:
    return {"key": str(thread), "conversation_id": conversation_id, "linked_at": now}
