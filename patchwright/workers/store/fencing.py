"""Keep the holder of an old lease from writing."""

from typing import Final

from sqlalchemy import Connection, bindparam, select, update

from patchwright.core.errors import LeaseLostError
from patchwright.core.types.ids import ConversationId
from patchwright.workers.db.tables import conversations
from patchwright.workers.store.job import Lease

# Statements on the way of every webhook and event are built once: building one takes
# longer than SQLite takes to run it.
_LOCK: Final = (
    select(conversations.c.fence)
    .where(conversations.c.id == bindparam("conversation_id"))
    .with_for_update()
)


def lock_conversation(connection: Connection, conversation_id: ConversationId) -> int:
    """Make other writers of the conversation wait; return the newest fence.

    Whoever writes a conversation's rows or those of its jobs comes through here first,
    so that no two transactions can wait for each other.
    """
    found = connection.scalars(_LOCK, {"conversation_id": conversation_id})
    fence: int | None = found.one_or_none()
    if fence is None:
        raise LookupError(f"there is no conversation {conversation_id}")
    return fence


def require_lease(connection: Connection, lease: Lease) -> None:
    """Lock the conversation; raise `LeaseLostError` unless the lease is the newest."""
    if lock_conversation(connection, lease.conversation_id) != lease.fence:
        raise LeaseLostError(f"another worker holds job {lease.job_id} now")


def raise_fence(connection: Connection, conversation_id: ConversationId) -> int:
    """End every lease given out so far; return the new fence."""
    raised = (
        update(conversations)
        .where(conversations.c.id == conversation_id)
        .values(fence=conversations.c.fence + 1)
        .returning(conversations.c.fence)
    )
    fence: int = connection.scalars(raised).one()
    return fence
