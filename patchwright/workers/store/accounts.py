"""People: the account behind an actor, and whose identities are the same person's."""

from typing import Final

from sqlalchemy import Connection, delete, select, update

from patchwright.core.clock import Clock
from patchwright.core.types.ids import AccountId, Ids
from patchwright.core.types.people import Actor
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables_people import accounts, identities
from patchwright.workers.db.upsert import insert_once
from patchwright.workers.store.account_audit import AuditNote
from patchwright.workers.store.identities import (
    actor_of,
    add_identity,
    find_identity,
    identity_name,
    is_identity,
)

_THEIRS: Final = identities.alias()


class AccountStore:
    def __init__(self, database: Database, ids: Ids, clock: Clock) -> None:
        self._database = database
        self._ids = ids
        self._clock = clock

    def account_of(self, actor: Actor, host: str) -> AccountId:
        """Return the actor's account on the service at `host`, new if need be.

        Somebody is known by the service's own id for them; a login can be given up and
        taken by somebody else.
        """
        with self._database.writing() as connection:
            return self._account_in(connection, actor, host)

    def known(self, actor: Actor, host: str) -> AccountId | None:
        """Return the account that the actor has already."""
        with self._database.reading() as connection:
            found = find_identity(connection, actor, host)
        return found.account_id if found else None

    def person_of(self, actor: Actor, forge: str, host: str) -> Actor | None:
        """Return who an actor of another service is on the forge at `host`."""
        with self._database.reading() as connection:
            return find_person(connection, actor, forge, host)

    def link(
        self, connection: Connection, person: Actor, host: str, actor: Actor
    ) -> AccountId:
        """Let the actor be the person of the forge at `host`, and nobody else.

        That must be the person's own word.
        """
        account_id = self._account_in(connection, person, host)
        noted = AuditNote(at=self._clock.now(), actor=actor, by=identity_name(person, host))
        before = find_identity(connection, actor, actor.host)
        if before is not None and before.account_id != account_id:
            noted.write(connection, self._ids, before.account_id, "unlinked")
        if not add_identity(connection, self._ids, account_id, actor, actor.host):
            now_theirs = {"account_id": account_id, "login": actor.login}
            theirs = is_identity(actor, actor.host)
            connection.execute(update(identities).where(theirs).values(now_theirs))
        noted.write(connection, self._ids, account_id, "linked")
        return account_id

    def _account_in(self, connection: Connection, actor: Actor, host: str) -> AccountId:
        known = find_identity(connection, actor, host)
        if known is None:
            return self._make(connection, actor, host)
        if known.login != actor.login:
            renamed = update(identities).where(identities.c.id == known.id)
            connection.execute(renamed.values(login=actor.login))
        return known.account_id

    def _make(self, connection: Connection, actor: Actor, host: str) -> AccountId:
        account_id = AccountId(self._ids.new())
        account = {
            "id": account_id,
            "name": actor.login,
            "created_at": self._clock.now(),
        }
        insert_once(connection, accounts, account)
        if add_identity(connection, self._ids, account_id, actor, host):
            return account_id
        connection.execute(delete(accounts).where(accounts.c.id == account_id))
        return _made_meanwhile(connection, actor, host)


def find_person(
    connection: Connection, actor: Actor, forge: str, host: str
) -> Actor | None:
    query = (
        select(identities)
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


def _made_meanwhile(connection: Connection, actor: Actor, host: str) -> AccountId:
    found = find_identity(connection, actor, host)
    if found is None:
        raise LookupError(f"the identity of {actor.login} came and went")
    return found.account_id
