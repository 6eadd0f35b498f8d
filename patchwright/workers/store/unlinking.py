"""Take people's identities apart again, and forget what they let us do."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, func, select

from patchwright.core.types.ids import AccountId, Ids
from patchwright.core.types.people import Actor
from patchwright.workers.db.tables_people import identities
from patchwright.workers.store.account_audit import AuditNote
from patchwright.workers.store.identities import (
    actor_of,
    find_identity,
)
from patchwright.workers.store.identity_tokens import forget_grant

UNINSTALLED: Final = "uninstalled"
REVOKED: Final = "revoked"


def unlink(
    connection: Connection, ids: Ids, actor: Actor, by: str, now: datetime
) -> bool:
    """Let the actor be nobody we know; tell whether they were somebody.

    Where nothing else was linked to the person, their token goes too: nothing uses it.
    """
    known = find_identity(connection, actor, actor.host)
    if known is None:
        return False
    connection.execute(delete(identities).where(identities.c.id == known.id))
    note = AuditNote(at=now, actor=actor, by=by)
    note.write(connection, ids, known.account_id, "unlinked")
    if _count_identities(connection, known.account_id) <= 1:
        forget_grant(connection, known.account_id)
    return True


def unlink_host(
    connection: Connection, ids: Ids, service: str, host: str, now: datetime
) -> None:
    """Unlink everybody of a workspace or site that does not want us any more."""
    theirs = select(identities).where(
        identities.c.service == service, identities.c.host == host
    )
    for row in connection.execute(theirs).all():
        actor = actor_of(row).replace(host=host)
        unlink(connection, ids, actor, UNINSTALLED, now)


def forget_person(
    connection: Connection, ids: Ids, person: Actor, now: datetime
) -> None:
    """Forget the token of somebody of a forge who took it back; they stay linked.

    They are told from others by the forge's id alone, wherever that is.
    """
    theirs = select(identities).where(
        identities.c.service == person.service,
        identities.c.subject == person.subject,
    )
    for row in connection.execute(theirs).all():
        forget_grant(connection, row.account_id)
        actor = actor_of(row).replace(host=row.host)
        note = AuditNote(at=now, actor=actor, by=REVOKED)
        note.write(connection, ids, row.account_id, "tokens-forgotten")


def _count_identities(connection: Connection, account_id: AccountId) -> int:
    count = select(func.count()).select_from(identities)
    return connection.scalar(count.where(identities.c.account_id == account_id)) or 0
