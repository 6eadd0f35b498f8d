"""People: the account behind an actor, made when somebody is first seen."""

from sqlalchemy import Connection, delete, select, update

from patchwright.core.clock import Clock
from patchwright.core.types.ids import AccountId, Ids
from patchwright.core.types.people import Actor
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables_people import accounts, identities
from patchwright.workers.db.upsert import insert_once


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
            known = _find(connection, actor, host)
            if known is None:
                return self._make(connection, actor, host)
            identity_id, account_id, login = known
            if login != actor.login:
                renamed = update(identities).where(identities.c.id == identity_id)
                connection.execute(renamed.values(login=actor.login))
            return account_id

    def _make(self, connection: Connection, actor: Actor, host: str) -> AccountId:
        account_id = AccountId(self._ids.new())
        account = {
            "id": account_id,
            "name": actor.login,
            "created_at": self._clock.now(),
        }
        insert_once(connection, accounts, account)
        identity = {
            "id": self._ids.new(),
            "account_id": account_id,
            "service": actor.service,
            "host": host,
            "subject": _subject(actor),
            "login": actor.login,
        }
        if insert_once(connection, identities, identity):
            return account_id
        connection.execute(delete(accounts).where(accounts.c.id == account_id))
        return _made_meanwhile(connection, actor, host)


def _find(
    connection: Connection, actor: Actor, host: str
) -> tuple[str, AccountId, str] | None:
    query = select(identities.c.id, identities.c.account_id, identities.c.login).where(
        identities.c.service == actor.service,
        identities.c.host == host,
        identities.c.subject == _subject(actor),
    )
    row = connection.execute(query).one_or_none()
    return (row.id, row.account_id, row.login) if row else None


def _made_meanwhile(connection: Connection, actor: Actor, host: str) -> AccountId:
    found = _find(connection, actor, host)
    if found is None:
        raise LookupError(f"the identity of {actor.login} came and went")
    return found[1]


def _subject(actor: Actor) -> str:
    return actor.external_id or f"login:{actor.login.casefold()}"
