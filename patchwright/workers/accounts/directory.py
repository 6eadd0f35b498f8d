"""The people who sign in: their accounts, identities and roles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import sqlalchemy as sa

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import AccountId, Ids, Value
from patchwright.core.types.people import Actor
from patchwright.integrations.oidc.claims import OIDC
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.accounts.roles import (
    Account,
    GivenRole,
    Identity,
    RoleSource,
    merged_role,
    role_at_sign_in,
    weaker,
)
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import accounts, api_tokens, identities, sessions
from patchwright.workers.store.accounts import (
    AccountStore,
    add_identity,
    find_identity,
    identity_name,
    is_identity,
    unlink,
)
from patchwright.workers.store.audit import AuditAction, AuditEntry, write_audit
from patchwright.workers.store.identity_tokens import forget_grant

BY_SETUP_LINK: Final = "set-up link"


class ProvenPerson(Value):
    """Somebody who has just shown who they are, at the service of `person`.

    `host` is where that service is. `email` is an address that it has verified, and
    `provider_sid` its own name for the session. `is_admin` is None where it does not
    say who is an admin.
    """

    person: Actor
    host: str
    email: str = ""
    provider_sid: str = ""
    is_admin: bool | None = None


class Unlinking(Enum):
    """Whether an identity was unlinked, or why not."""

    DONE = auto()
    UNKNOWN = auto()
    LAST = auto()
    VIEWER = auto()


@dataclass(frozen=True)
class People:
    """`forge` and `forge_host` are where the code is, `issuer` the provider, if any.

    `admins` are those whom the settings name.
    """

    database: Database
    accounts: AccountStore
    ids: Ids
    clock: Clock
    forge: str
    forge_host: str
    issuer: str = ""
    admins: tuple[str, ...] = ()
    default_role: Role = Role.MEMBER

    def sign_in(self, proven: ProvenPerson, *, is_first_admin: bool = False) -> Account:
        """Return the account of somebody, new if need be.

        `is_first_admin` makes an admin of them, if nobody is one yet.
        """
        with self.database.writing() as connection:
            account_id = self.accounts.account_in(
                connection, proven.person, proven.host
            )
            self._note_email(connection, proven)
            before = self._given(connection, account_id)
            after = role_at_sign_in(
                before, self.default_role, is_provider_admin=proven.is_admin
            )
            by = identity_name(proven.person, proven.host)
            if is_first_admin and not self._has_admin(connection):
                after = GivenRole(role=Role.ADMIN, source=RoleSource.PERSON)
                self._give(connection, account_id, before, after, BY_SETUP_LINK)
            else:
                self._give(connection, account_id, before, after, by)
            signed_in = sa.update(accounts).where(accounts.c.id == account_id)
            connection.execute(signed_in.values(signed_in_at=self.clock.now()))
            self._write(connection, account_id, AuditAction.SIGNED_IN, by, by=by)
            return self._account(connection, account_id)

    def attach(self, account_id: AccountId, proven: ProvenPerson) -> Account | None:
        """Let somebody who is signed in also be whom they have just proven to be.

        An account that this was before is theirs too, so that both become one. The one
        with the identity on the forge stays: what it spent and chose is kept by its id.
        None where that would give them two identities at one service.
        """
        with self.database.writing() as connection:
            known = find_identity(connection, proven.person, proven.host)
            other = known.account_id if known else account_id
            both = {account_id, other}
            if self._would_be_two(connection, both, proven):
                return None
            if known is None:
                add_identity(
                    connection, self.ids, account_id, proven.person, proven.host
                )
            elif other != account_id:
                is_forge = proven.person.service == self.forge
                stays, goes = (other, account_id) if is_forge else (account_id, other)
                self._merge(connection, stays, goes)
                account_id = stays
            self._note_email(connection, proven)
            here = sa.update(accounts).where(accounts.c.id == account_id)
            connection.execute(here.values(signed_in_at=self.clock.now()))
            name = identity_name(proven.person, proven.host)
            by = f"account:{account_id}"
            self._write(connection, account_id, AuditAction.LINKED, name, by=by)
            return self._account(connection, account_id)

    def find(self, account_id: AccountId) -> Account | None:
        with self.database.reading() as connection:
            row = connection.execute(
                sa.select(accounts).where(accounts.c.id == account_id)
            ).one_or_none()
            return self._read(connection, [row])[0] if row else None

    def find_by_identity(
        self, service: str, host: str, subject: str
    ) -> AccountId | None:
        actor = Actor(service=service, login="", external_id=subject)
        return self.accounts.known(actor, host)

    def find_all(self, name: str = "") -> tuple[Account, ...]:
        """Return the accounts with that in their name or a login, by their names."""
        with self.database.reading() as connection:
            rows = connection.execute(
                sa.select(accounts).order_by(sa.func.lower(accounts.c.name))
            ).all()
            found = self._read(connection, rows)
        wanted = name.casefold()
        return tuple(one for one in found if _has_name(one, wanted))

    def set_role(self, account_id: AccountId, role: Role, by: str) -> bool:
        """Give somebody a role; tell whether there is such an account.

        Somebody whom the settings make an admin stays one.
        """
        with self.database.writing() as connection:
            if not _exists(connection, account_id):
                return False
            before = self._given(connection, account_id)
            after = GivenRole(role=role, source=RoleSource.PERSON)
            self._give(connection, account_id, before, after, by)
        return True

    def unlink(
        self, account_id: AccountId, identity_id: str, by: Principal
    ) -> Unlinking:
        """Take an identity from an account.

        People keep one themselves, or they could not come back. A viewer needs an
        admin: with an account of its own the identity would not be a viewer's.
        """
        with self.database.writing() as connection:
            account = self._account(connection, account_id)
            found = [one for one in account.identities if one.id == identity_id]
            if not found:
                return Unlinking.UNKNOWN
            if not by.is_admin and len(account.identities) == 1:
                return Unlinking.LAST
            if not by.is_admin and not by.role.allows(Role.MEMBER):
                return Unlinking.VIEWER
            actor = _actor(found[0])
            unlink(connection, self.ids, actor, by.key, self.clock.now())
            if actor.service == self.forge:
                forget_grant(connection, account_id)
            theirs = (
                sessions.c.account_id == account_id,
                sessions.c.service == actor.service,
            )
            connection.execute(sa.delete(sessions).where(*theirs))
        return Unlinking.DONE

    def principal(
        self, account: Account, by: SignedInBy, most: Role = Role.ADMIN
    ) -> Principal:
        """Return somebody as they are at this request, with no more than `most`."""
        identity = account.identity_at(self.forge, self.forge_host)
        return Principal(
            name=identity.login if identity else account.name,
            role=weaker(account.role, most),
            signed_in_by=by,
            account_id=account.id,
            identity=identity,
        )

    def _merge(
        self, connection: sa.Connection, stays: AccountId, goes: AccountId
    ) -> None:
        role = merged_role(
            self._given(connection, stays), self._given(connection, goes)
        )
        for table in (identities, sessions, api_tokens):
            moved = sa.update(table).where(table.c.account_id == goes)
            connection.execute(moved.values(account_id=stays))
        self._give(
            connection,
            stays,
            self._given(connection, stays),
            role,
            f"account:{stays}",
        )
        connection.execute(sa.delete(accounts).where(accounts.c.id == goes))

    def _would_be_two(
        self, connection: sa.Connection, both: set[AccountId], proven: ProvenPerson
    ) -> bool:
        """Tell whether an account would be two people where people sign in.

        Elsewhere somebody may well have two names, such as in two workspaces.
        """
        query = sa.select(identities).where(
            identities.c.account_id.in_(sorted(both)),
            identities.c.service.in_([self.forge, OIDC]),
        )
        person = proven.person
        found = {
            (row.service, row.host, row.subject) for row in connection.execute(query)
        } | {(person.service, proven.host, person.subject)}
        return len(found) > len({(service, host) for service, host, _ in found})

    def _note_email(self, connection: sa.Connection, proven: ProvenPerson) -> None:
        is_theirs = is_identity(proven.person, proven.host)
        noted = sa.update(identities).where(is_theirs).values(email=proven.email)
        connection.execute(noted)

    def _given(self, connection: sa.Connection, account_id: AccountId) -> GivenRole:
        query = sa.select(accounts.c.role, accounts.c.role_from)
        row = connection.execute(query.where(accounts.c.id == account_id)).one()
        return GivenRole(role=Role(row.role), source=RoleSource(row.role_from))

    def _give(
        self,
        connection: sa.Connection,
        account_id: AccountId,
        before: GivenRole,
        after: GivenRole,
        by: str,
    ) -> None:
        if before == after:
            return
        changed = sa.update(accounts).where(accounts.c.id == account_id)
        row = {"role": str(after.role), "role_from": str(after.source)}
        connection.execute(changed.values(row))
        if before.role is not after.role:
            detail = f"{before.role} → {after.role}"
            self._write(
                connection,
                account_id,
                AuditAction.ROLE,
                f"account:{account_id}",
                by=by,
                detail=detail,
            )

    def _has_admin(self, connection: sa.Connection) -> bool:
        is_admin = accounts.c.role == str(Role.ADMIN)
        stored = connection.execute(sa.select(accounts.c.id).where(is_admin)).first()
        return stored is not None or bool(self.admins)

    def _write(
        self,
        connection: sa.Connection,
        account_id: AccountId,
        what: AuditAction,
        about: str,
        *,
        by: str,
        detail: str = "",
    ) -> None:
        entry = AuditEntry(
            at=self.clock.now(),
            account_id=account_id,
            what=what,
            about=about,
            by=by,
            detail=detail,
        )
        write_audit(connection, self.ids, entry)

    def _account(self, connection: sa.Connection, account_id: AccountId) -> Account:
        row = connection.execute(
            sa.select(accounts).where(accounts.c.id == account_id)
        ).one()
        return self._read(connection, [row])[0]

    def _read(
        self, connection: sa.Connection, rows: Sequence[sa.Row[tuple[object, ...]]]
    ) -> list[Account]:
        query = sa.select(identities).order_by(identities.c.service, identities.c.id)
        if len(rows) == 1:
            query = query.where(identities.c.account_id == rows[0].id)
        theirs: dict[str, list[Identity]] = {}
        for row in connection.execute(query):
            known = Identity.model_validate(row, from_attributes=True)
            theirs.setdefault(row.account_id, []).append(known)
        return [self._make(row, theirs) for row in rows]

    def _make(
        self,
        row: sa.Row[tuple[object, ...]],
        theirs: Mapping[str, Iterable[Identity]],
    ) -> Account:
        own = tuple(theirs.get(row.id, ()))
        given = GivenRole(role=Role(row.role), source=RoleSource(row.role_from))
        is_named = any(self._counts(one) and one.is_named(self.admins) for one in own)
        return Account(
            id=row.id,
            name=row.name,
            given=given,
            role=Role.ADMIN if is_named else given.role,
            identities=own,
        )

    def _counts(self, one: Identity) -> bool:
        """Tell whether an identity is of the forge or the provider of the settings."""
        wanted = self.issuer if one.is_of_provider else self.forge_host
        return one.host == wanted and (one.is_of_provider or one.service == self.forge)


def _actor(one: Identity) -> Actor:
    return Actor(
        service=one.service, login=one.login, external_id=one.subject, host=one.host
    )


def _has_name(account: Account, wanted: str) -> bool:
    names = (account.name, *(one.login for one in account.identities))
    return any(wanted in name.casefold() for name in names)


def _exists(connection: sa.Connection, account_id: AccountId) -> bool:
    query = sa.select(accounts.c.id).where(accounts.c.id == account_id)
    return connection.execute(query).first() is not None
