"""Accounts of people, their identities on services, and how these are unlinked."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import AccountId, Ids, Value
from patchwright.core.types.people import BY_LOGIN, Actor
from patchwright.workers.db.database import Database, insert_once
from patchwright.workers.db.tables import accounts, identities, link_requests
from patchwright.workers.store.audit import AuditAction, AuditEntry, write_audit
from patchwright.workers.store.identity_tokens import forget_grant


class IdentityRow(Value):
    id: str
    account_id: AccountId
    login: str


def identity_name(actor: Actor, host: str) -> str:
    return f"{actor.service}:{host}:{actor.subject}"


def is_identity(actor: Actor, host: str) -> sa.ColumnElement[bool]:
    return sa.and_(
        identities.c.service == actor.service,
        identities.c.host == host,
        identities.c.subject == actor.subject,
    )


def find_identity(
    connection: sa.Connection, actor: Actor, host: str
) -> IdentityRow | None:
    query = sa.select(identities.c.id, identities.c.account_id, identities.c.login)
    row = connection.execute(query.where(is_identity(actor, host))).one_or_none()
    return IdentityRow.model_validate(row, from_attributes=True) if row else None


def add_identity(
    connection: sa.Connection, ids: Ids, account_id: AccountId, actor: Actor, host: str
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


def actor_of(row: sa.Row[*tuple[Any, ...]]) -> Actor:
    """Return the actor of a row, without a host."""
    external_id = "" if row.subject.startswith(BY_LOGIN) else row.subject
    return Actor(service=row.service, login=row.login, external_id=external_id)


class AuditNote(Value):
    """`by` is an identity of the person, or what happened instead of one."""

    at: datetime
    actor: Actor
    by: str

    def write(
        self,
        connection: sa.Connection,
        ids: Ids,
        account_id: AccountId,
        what: AuditAction,
    ) -> None:
        entry = AuditEntry(
            at=self.at,
            account_id=account_id,
            what=what,
            about=identity_name(self.actor, self.actor.host),
            by=self.by,
            # Nothing else knows it afterwards.
            detail=self.actor.login if what is AuditAction.UNLINKED else "",
        )
        write_audit(connection, ids, entry)


_THEIRS: Final = identities.alias()


def known_names() -> sa.Subquery:
    """Select what people are called, by the ids that services know them by.

    Whoever linked an account, or was asked to, told us. The lower `rank` counts.
    """
    told = (
        sa.select(
            table.c.service,
            table.c.host,
            table.c.subject,
            table.c.login,
            sa.literal_column(str(rank)).label("rank"),
        ).where(table.c.login != table.c.subject)
        for rank, table in enumerate((identities, link_requests))
    )
    return sa.union_all(*told).subquery()


class AccountStore:
    """Knows accounts by the identities of people; new ones get `default_role`."""

    def __init__(
        self, database: Database, ids: Ids, clock: Clock, default_role: str = "member"
    ) -> None:
        self._database = database
        self._ids = ids
        self._clock = clock
        self._default_role = default_role

    def account_of(self, actor: Actor, host: str) -> AccountId:
        """Return the actor's account on the service at `host`, new if need be.

        Somebody is known by the service's own id for them; a login can be given up and
        taken by somebody else.
        """
        with self._database.writing() as connection:
            return self.account_in(connection, actor, host)

    def known(self, actor: Actor, host: str) -> AccountId | None:
        """Return the account that the actor has already."""
        with self._database.reading() as connection:
            found = find_identity(connection, actor, host)
        return found.account_id if found else None

    def has_signed_in(self, actor: Actor, host: str) -> bool:
        """Tell whether the actor was here: signed in, or linked an account."""
        query = (
            sa.select(accounts.c.signed_in_at)
            .join(identities, identities.c.account_id == accounts.c.id)
            .where(is_identity(actor, host), accounts.c.signed_in_at.is_not(None))
        )
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def person_of(self, actor: Actor, forge: str, host: str) -> Actor | None:
        """Return who an actor of another service is on the forge at `host`."""
        with self._database.reading() as connection:
            return find_person(connection, actor, forge, host)

    def name_of(self, actor: Actor) -> str:
        """Return what somebody is called, or their id where nobody has told us."""
        if actor.login != actor.external_id:
            return actor.login
        named = known_names()
        theirs = sa.select(named.c.login).where(
            named.c.service == actor.service,
            named.c.host == actor.host,
            named.c.subject == actor.external_id,
        )
        with self._database.reading() as connection:
            name = connection.scalars(theirs.order_by(named.c.rank)).first()
        return name or actor.login

    def link(
        self, connection: sa.Connection, person: Actor, host: str, actor: Actor
    ) -> AccountId:
        """Let the actor be the person of the forge at `host`, and nobody else.

        That must be the person's own word.
        """
        account_id = self.account_in(connection, person, host)
        now = self._clock.now()
        was_here = sa.update(accounts).where(accounts.c.id == account_id)
        connection.execute(was_here.values(signed_in_at=now))
        noted = AuditNote(at=now, actor=actor, by=identity_name(person, host))
        before = find_identity(connection, actor, actor.host)
        if before is not None and before.account_id != account_id:
            noted.write(connection, self._ids, before.account_id, AuditAction.UNLINKED)
        if not add_identity(connection, self._ids, account_id, actor, actor.host):
            now_theirs = {"account_id": account_id, "login": actor.login}
            theirs = is_identity(actor, actor.host)
            connection.execute(sa.update(identities).where(theirs).values(now_theirs))
        noted.write(connection, self._ids, account_id, AuditAction.LINKED)
        return account_id

    def account_in(
        self, connection: sa.Connection, actor: Actor, host: str
    ) -> AccountId:
        """Return the actor's account within a transaction, new if need be."""
        known = find_identity(connection, actor, host)
        if known is None:
            return self._make(connection, actor, host)
        if known.login != actor.login:
            renamed = sa.update(identities).where(identities.c.id == known.id)
            connection.execute(renamed.values(login=actor.login))
        return known.account_id

    def _make(self, connection: sa.Connection, actor: Actor, host: str) -> AccountId:
        account_id = AccountId(self._ids.new())
        account = {
            "id": account_id,
            "name": actor.login,
            "created_at": self._clock.now(),
            "role": self._default_role,
        }
        insert_once(connection, accounts, account)
        if add_identity(connection, self._ids, account_id, actor, host):
            return account_id
        connection.execute(sa.delete(accounts).where(accounts.c.id == account_id))
        return _made_meanwhile(connection, actor, host)


def find_person(
    connection: sa.Connection, actor: Actor, forge: str, host: str
) -> Actor | None:
    query = (
        sa.select(identities)
        .join(_THEIRS, _THEIRS.c.account_id == identities.c.account_id)
        .where(
            _THEIRS.c.service == actor.service,
            _THEIRS.c.host == actor.host,
            _THEIRS.c.subject == actor.subject,
            identities.c.service == forge,
            identities.c.host == host,
        )
    )
    row = connection.execute(query).first()
    return actor_of(row) if row else None


def _made_meanwhile(connection: sa.Connection, actor: Actor, host: str) -> AccountId:
    found = find_identity(connection, actor, host)
    if found is None:
        raise LookupError(f"the identity of {actor.login} was added and removed again")
    return found.account_id


UNINSTALLED: Final = "uninstalled"
REVOKED: Final = "revoked"


def unlink(
    connection: sa.Connection, ids: Ids, actor: Actor, by: str, now: datetime
) -> bool:
    """Let the actor be nobody we know; tell whether they were somebody.

    Where nothing else was linked to the person, their token goes too: nothing uses it.
    """
    known = find_identity(connection, actor, actor.host)
    if known is None:
        return False
    connection.execute(sa.delete(identities).where(identities.c.id == known.id))
    note = AuditNote(at=now, actor=actor, by=by)
    note.write(connection, ids, known.account_id, AuditAction.UNLINKED)
    if _count_identities(connection, known.account_id) <= 1:
        forget_grant(connection, known.account_id)
    return True


def unlink_host(
    connection: sa.Connection, ids: Ids, service: str, host: str, now: datetime
) -> None:
    """Unlink everybody of a workspace or site that does not want us any more."""
    theirs = sa.select(identities).where(
        identities.c.service == service, identities.c.host == host
    )
    for row in connection.execute(theirs).all():
        actor = actor_of(row).replace(host=host)
        unlink(connection, ids, actor, UNINSTALLED, now)


def forget_person(
    connection: sa.Connection, ids: Ids, person: Actor, now: datetime
) -> None:
    """Remove the token of a person who revoked it on a forge; they stay linked.

    Only the forge's id identifies the person.
    """
    theirs = sa.select(identities).where(
        identities.c.service == person.service,
        identities.c.subject == person.subject,
    )
    for row in connection.execute(theirs).all():
        forget_grant(connection, row.account_id)
        actor = actor_of(row).replace(host=row.host)
        note = AuditNote(at=now, actor=actor, by=REVOKED)
        note.write(connection, ids, row.account_id, AuditAction.TOKENS_FORGOTTEN)


def _count_identities(connection: sa.Connection, account_id: AccountId) -> int:
    count = sa.select(sa.func.count()).select_from(identities)
    return connection.scalar(count.where(identities.c.account_id == account_id)) or 0
