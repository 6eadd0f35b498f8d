"""The audit: who signed in, changed accounts, tokens or settings, or shared a run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

import sqlalchemy as sa

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids, Value
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import account_audit, accounts, identities


class AuditAction(StrEnum):
    """What was done; the words are stored, and filtered by."""

    SIGNED_IN = "signed-in"
    SIGNED_OUT = "signed-out"
    SESSIONS_ENDED = "sessions-ended"
    LINKED = "linked"
    UNLINKED = "unlinked"
    TOKENS_FORGOTTEN = "tokens-forgotten"
    ROLE = "role"
    TOKEN_MADE = "token-made"  # noqa: S105 - a word, no token
    TOKEN_REVOKED = "token-revoked"  # noqa: S105 - a word, no token
    SETTINGS = "settings"
    RUN_SHARED = "run-shared"
    RUN_LINK_REVOKED = "run-link-revoked"


class AuditEntry(Value):
    """Something that was done to an account, or by somebody.

    `about` is an identity, as `SERVICE:HOST:ID`, a token, a setting or a run. `by` is
    such an identity, a principal's key, or what happened instead of somebody.
    """

    at: datetime
    account_id: str
    what: AuditAction
    about: str = ""
    by: str
    detail: str = ""


def write_audit(connection: sa.Connection, ids: Ids, entry: AuditEntry) -> None:
    row = {
        "id": ids.new(),
        "at": entry.at,
        "account_id": entry.account_id,
        "what": str(entry.what),
        "identity": entry.about,
        "by": entry.by,
        "detail": entry.detail,
    }
    connection.execute(sa.insert(account_audit), row)


class AuditFilter(Value):
    """Which entries are wanted; an empty text wants all. `person` is part of a name."""

    what: str = ""
    person: str = ""
    since: datetime | None = None
    until: datetime | None = None


class AuditRow(Value):
    """An entry as people read it: with the names of people in place of their ids."""

    at: datetime
    account: str
    what: str
    about: str
    by: str
    detail: str


_PAGE: Final = 1000
_BY_ACCOUNT: Final = "account:"


@dataclass(frozen=True)
class AuditLog:
    database: Database
    ids: Ids
    clock: Clock

    def note(
        self,
        what: AuditAction,
        *,
        by: str,
        account_id: str = "",
        about: str = "",
        detail: str = "",
    ) -> None:
        """Write an entry; `by` is a principal's key."""
        entry = AuditEntry(
            at=self.clock.now(),
            account_id=account_id,
            what=what,
            about=about,
            by=by,
            detail=detail,
        )
        with self.database.writing() as connection:
            write_audit(connection, self.ids, entry)

    def read(self, wanted: AuditFilter, most: int) -> tuple[AuditRow, ...]:
        """Return the newest entries, the newest of them first."""
        rows = self.read_all(wanted)
        return tuple(row for _, row in zip(range(most), rows, strict=False))

    def read_all(self, wanted: AuditFilter) -> Iterator[AuditRow]:
        """Yield all entries, the newest first, a page of rows at a time."""
        with self.database.reading() as connection:
            names = _names(connection)
        query = _query(wanted)
        before: tuple[datetime, str] | None = None
        while True:
            page = query if before is None else query.where(_is_before(*before))
            with self.database.reading() as connection:
                rows = connection.execute(page).all()
            for row in rows:
                read = _row(row, names)
                if _is_of(read, wanted.person):
                    yield read
            if len(rows) < _PAGE:
                return
            before = (rows[-1].at, rows[-1].id)


def _query(wanted: AuditFilter) -> sa.Select[tuple[object, ...]]:
    query = sa.select(account_audit)
    if wanted.what:
        query = query.where(account_audit.c.what == wanted.what)
    if wanted.since is not None:
        query = query.where(account_audit.c.at >= wanted.since)
    if wanted.until is not None:
        query = query.where(account_audit.c.at < wanted.until)
    newest = (account_audit.c.at.desc(), account_audit.c.id.desc())
    return query.order_by(*newest).limit(_PAGE)


def _is_before(at: datetime, entry_id: str) -> sa.ColumnElement[bool]:
    return sa.or_(
        account_audit.c.at < at,
        sa.and_(account_audit.c.at == at, account_audit.c.id < entry_id),
    )


def _names(connection: sa.Connection) -> Mapping[str, str]:
    """Return what people are called, by the key of their account and identities."""
    people = connection.execute(sa.select(accounts.c.id, accounts.c.name))
    names = {f"{_BY_ACCOUNT}{row.id}": row.name for row in people}
    removed = sa.select(account_audit).where(
        account_audit.c.what == AuditAction.UNLINKED, account_audit.c.detail != ""
    )
    for row in connection.execute(removed):
        service = row.identity.partition(":")[0]
        names[row.identity] = f"{row.detail} ({service})"
    for row in connection.execute(sa.select(identities)):
        key = f"{row.service}:{row.host}:{row.subject}"
        names[key] = f"{row.login} ({row.service})"
    return names


def _row(row: sa.Row[tuple[object, ...]], names: Mapping[str, str]) -> AuditRow:
    account = names.get(f"{_BY_ACCOUNT}{row.account_id}", row.account_id)
    return AuditRow(
        at=row.at,
        account=account,
        what=row.what,
        about=names.get(row.identity, row.identity),
        by=names.get(row.by, row.by),
        detail=row.detail,
    )


def _is_of(row: AuditRow, person: str) -> bool:
    wanted = person.casefold()
    return any(wanted in one.casefold() for one in (row.account, row.about, row.by))
