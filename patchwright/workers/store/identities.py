"""The rows of identities: who somebody is on one service."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, select

from patchwright.core.types.base import Value
from patchwright.core.types.ids import AccountId, Ids
from patchwright.core.types.people import BY_LOGIN, Actor
from patchwright.workers.db.tables_people import identities
from patchwright.workers.db.upsert import insert_once


class IdentityRow(Value):
    id: str
    account_id: AccountId
    login: str


def identity_name(actor: Actor, host: str) -> str:
    return f"{actor.service}:{host}:{actor.subject}"


def is_identity(actor: Actor, host: str) -> ColumnElement[bool]:
    return and_(
        identities.c.service == actor.service,
        identities.c.host == host,
        identities.c.subject == actor.subject,
    )


def find_identity(connection: Connection, actor: Actor, host: str) -> IdentityRow | None:
    query = select(identities.c.id, identities.c.account_id, identities.c.login)
    row = connection.execute(query.where(is_identity(actor, host))).one_or_none()
    return IdentityRow.model_validate(row, from_attributes=True) if row else None


def add_identity(
    connection: Connection, ids: Ids, account_id: AccountId, actor: Actor, host: str
) -> bool:
    """Add an identity to an account; tell whether it was nobody's before."""
    identity: Mapping[str, object] = {
        "id": ids.new(),
        "account_id": account_id,
        "service": actor.service,
        "host": host,
        "subject": actor.subject,
        "login": actor.login,
    }
    return insert_once(connection, identities, identity)


def actor_of(row: Row[*tuple[Any, ...]]) -> Actor:
    """Return the actor that a row names; their host is not told."""
    external_id = "" if row.subject.startswith(BY_LOGIN) else row.subject
    return Actor(service=row.service, login=row.login, external_id=external_id)
