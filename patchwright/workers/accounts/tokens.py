"""API tokens: shown once, stored as digests, and never stronger than their account."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import sqlalchemy as sa

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import AccountId, Ids, Value
from patchwright.workers.accounts.principal import Role
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import api_tokens
from patchwright.workers.store.account_links import digest_of
from patchwright.workers.store.audit import AuditAction, AuditEntry, write_audit

# Scanners for secrets, and people, know it by its beginning.
TOKEN_PREFIX: Final = "pwt_"  # noqa: S105 - how tokens begin
LIVES_DAYS: Final = (30, 90, 365)
MAX_TOKENS: Final = 50
MAX_NAME_CHARS: Final = 80
_TOKEN_BYTES: Final = 32
_ENDING_CHARS: Final = 4
_USED_EVERY: Final = timedelta(minutes=1)


class Scope(StrEnum):
    """What a token is for, from least to most."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    @property
    def role(self) -> Role:
        """The most that somebody may do with such a token."""
        match self:
            case Scope.READ:
                return Role.VIEWER
            case Scope.WRITE:
                return Role.MEMBER
            case Scope.ADMIN:
                return Role.ADMIN


def scopes_for(role: Role) -> tuple[Scope, ...]:
    """Return the scopes that somebody with a role can give a token."""
    return tuple(scope for scope in Scope if role.allows(scope.role))


class ApiToken(Value):
    """A token without its secret; `ending` are the last characters of that."""

    id: str
    account_id: AccountId
    name: str
    ending: str
    scope: Scope
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None = None


class NewToken(Value):
    name: str
    scope: Scope
    life_days: int


@dataclass(frozen=True)
class ApiTokenStore:
    database: Database
    ids: Ids
    clock: Clock

    def make(self, account_id: AccountId, new: NewToken, by: str) -> str | None:
        """Return a new token, which is stored nowhere; None if there are too many."""
        word, now = TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES), self.clock.now()
        row = {
            "id": self.ids.new(),
            "account_id": account_id,
            "name": new.name,
            "ending": word[-_ENDING_CHARS:],
            # 256 random bits cannot be guessed from their digest, and the look-up of a
            # digest takes no time that depends on the token.
            "digest": digest_of(word),
            "scope": str(new.scope),
            "created_at": now,
            "expires_at": now + timedelta(days=new.life_days),
        }
        count = sa.select(sa.func.count()).where(api_tokens.c.account_id == account_id)
        with self.database.writing() as connection:
            if connection.scalars(count).one() >= MAX_TOKENS:
                return None
            connection.execute(sa.insert(api_tokens), row)
            detail = f"{new.scope}, for {new.life_days} days"
            entry = self._entry(account_id, AuditAction.TOKEN_MADE, new.name, by)
            write_audit(connection, self.ids, entry.replace(detail=detail))
        return word

    def find(self, word: str) -> ApiToken | None:
        """Return a token that counts, and note that it was used."""
        if not word.startswith(TOKEN_PREFIX):
            return None
        now = self.clock.now()
        query = sa.select(api_tokens).where(
            api_tokens.c.digest == digest_of(word), api_tokens.c.expires_at > now
        )
        with self.database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        found = _token(row)
        if found.last_used_at is None or now - found.last_used_at >= _USED_EVERY:
            used = sa.update(api_tokens).where(api_tokens.c.id == found.id)
            with self.database.writing() as connection:
                connection.execute(used.values(last_used_at=now))
        return found

    def of_account(self, account_id: AccountId) -> tuple[ApiToken, ...]:
        """Return the tokens of an account, also those that have expired."""
        query = (
            sa.select(api_tokens)
            .where(api_tokens.c.account_id == account_id)
            .order_by(api_tokens.c.created_at.desc(), api_tokens.c.id)
        )
        with self.database.reading() as connection:
            return tuple(_token(row) for row in connection.execute(query).all())

    def revoke(self, token_id: str, account_id: AccountId, by: str) -> bool:
        """Revoke a token of an account; tell whether there was one."""
        theirs = (api_tokens.c.id == token_id, api_tokens.c.account_id == account_id)
        with self.database.writing() as connection:
            row = connection.execute(sa.select(api_tokens).where(*theirs)).one_or_none()
            if row is None:
                return False
            connection.execute(sa.delete(api_tokens).where(*theirs))
            entry = self._entry(account_id, AuditAction.TOKEN_REVOKED, row.name, by)
            write_audit(connection, self.ids, entry)
        return True

    def _entry(
        self, account_id: AccountId, what: AuditAction, name: str, by: str
    ) -> AuditEntry:
        now = self.clock.now()
        return AuditEntry(at=now, account_id=account_id, what=what, about=name, by=by)


def _token(row: sa.Row[tuple[object, ...]]) -> ApiToken:
    return ApiToken.model_validate(row, from_attributes=True)
