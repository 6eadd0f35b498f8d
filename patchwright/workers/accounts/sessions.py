"""Sessions of browsers, in the database: the cookie holds a random word alone."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import AccountId, Ids, Value
from patchwright.workers.db.database import Database, insert_once
from patchwright.workers.db.tables import logout_tokens, sessions
from patchwright.workers.store.account_links import digest_of

SESSION_LIFE: Final = timedelta(hours=12)
RENEWED_EVERY: Final = timedelta(hours=1)
# Requests that were sent at the same time as the first one with the new word.
_OVERLAP: Final = timedelta(seconds=60)
# How exact "last seen" is; each change is a write.
_SEEN_EVERY: Final = timedelta(minutes=1)
_WORD_BYTES: Final = 32


class Session(Value):
    """A browser in which somebody is signed in.

    `service` is the one at which they have signed in, `browser` what it calls itself.
    `is_due` says that it should get a new word.
    """

    id: str
    account_id: AccountId
    service: str
    browser: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    provider_sid: str = ""
    is_due: bool = False


class NewSession(Value):
    """Whose session begins; `provider_sid` is the provider's own name for it."""

    account_id: AccountId
    service: str
    browser: str = ""
    provider_sid: str = ""


@dataclass(frozen=True)
class SessionStore:
    """Every request reads the database, so that a session that was ended is over."""

    database: Database
    ids: Ids
    clock: Clock

    def begin(self, new: NewSession) -> str:
        """Return the word for the cookie; it is stored nowhere here."""
        word, now = _new_word(), self.clock.now()
        row = {
            "id": self.ids.new(),
            "account_id": new.account_id,
            "digest": digest_of(word),
            "service": new.service,
            "provider_sid": new.provider_sid,
            "browser": new.browser,
            "created_at": now,
            "renewed_at": now,
            "seen_at": now,
            "expires_at": now + SESSION_LIFE,
        }
        with self.database.writing() as connection:
            connection.execute(sa.delete(sessions).where(sessions.c.expires_at <= now))
            connection.execute(sa.insert(sessions), row)
        return word

    def find(self, word: str) -> Session | None:
        """Return the session of a cookie's word, None if there is none any more."""
        if not word:
            return None
        digest, now = digest_of(word), self.clock.now()
        query = sa.select(sessions).where(
            sa.or_(sessions.c.digest == digest, sessions.c.old_digest == digest),
            sessions.c.expires_at > now,
        )
        with self.database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        is_old = row.digest != digest
        if is_old and row.old_until is not None and row.old_until <= now:
            return None
        self._note_seen(row, now, is_newest=not is_old)
        return _session(row, is_due=row.renewed_at + RENEWED_EVERY <= now)

    def renew(self, word: str) -> str | None:
        """Return a new word for a session that is due, None for any other.

        The old one counts until the browser has shown the new one: an answer may get
        lost.
        """
        found = self.find(word)
        if found is None or not found.is_due:
            return None
        new, now = _new_word(), self.clock.now()
        changed = (
            sa.update(sessions)
            .where(
                sessions.c.id == found.id,
                # One of several requests at once renews it.
                sessions.c.renewed_at <= now - RENEWED_EVERY,
            )
            .values(
                digest=digest_of(new),
                old_digest=digest_of(word),
                old_until=None,
                renewed_at=now,
            )
        )
        with self.database.writing() as connection:
            is_first = connection.execute(changed).rowcount == 1
        return new if is_first else None

    def of_account(self, account_id: AccountId) -> tuple[Session, ...]:
        """Return the sessions of an account that are open, the newest first."""
        query = (
            sa.select(sessions)
            .where(
                sessions.c.account_id == account_id,
                sessions.c.expires_at > self.clock.now(),
            )
            .order_by(sessions.c.created_at.desc(), sessions.c.id)
        )
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(_session(row, is_due=False) for row in rows)

    def end(self, session_id: str, account_id: AccountId) -> bool:
        """End one session of an account; tell whether there was one."""
        return self._delete(
            [sessions.c.id == session_id, sessions.c.account_id == account_id]
        )

    def end_all(self, account_id: AccountId, *, but: str = "") -> bool:
        """End all sessions of an account, but for the one with that id."""
        return self._delete([sessions.c.account_id == account_id, sessions.c.id != but])

    def end_at_provider(
        self, service: str, account_id: AccountId | None, provider_sid: str
    ) -> bool:
        """End what a provider says is over: a session of its own, or all of a person.

        One of both must be given.
        """
        wanted = [sessions.c.service == service]
        if account_id is not None:
            wanted.append(sessions.c.account_id == account_id)
        if provider_sid:
            wanted.append(sessions.c.provider_sid == provider_sid)
        return self._delete(wanted)

    def use_logout_token(self, token_id: str, until: datetime) -> bool:
        """Tell whether a provider's message is new; it counts once."""
        with self.database.writing() as connection:
            old = logout_tokens.c.until <= self.clock.now()
            connection.execute(sa.delete(logout_tokens).where(old))
            row = {"digest": digest_of(token_id), "until": until}
            return insert_once(connection, logout_tokens, row)

    def _delete(self, wanted: Sequence[sa.ColumnElement[bool]]) -> bool:
        with self.database.writing() as connection:
            ended = connection.execute(sa.delete(sessions).where(*wanted))
        return ended.rowcount > 0

    def _note_seen(
        self,
        row: sa.Row[tuple[object, ...]],
        now: datetime,
        *,
        is_newest: bool,
    ) -> None:
        """Note that the browser was here, and that it has the newest word."""
        values: dict[str, object] = {}
        if now - row.seen_at >= _SEEN_EVERY:
            values["seen_at"] = now
        if is_newest and row.old_digest is not None and row.old_until is None:
            values["old_until"] = now + _OVERLAP
        if values:
            seen = sa.update(sessions).where(sessions.c.id == row.id).values(values)
            with self.database.writing() as connection:
                connection.execute(seen)


def _session(row: sa.Row[tuple[object, ...]], *, is_due: bool) -> Session:
    return Session.model_validate(row, from_attributes=True).replace(is_due=is_due)


def _new_word() -> str:
    return secrets.token_urlsafe(_WORD_BYTES)
