"""Invitations to link: one for an identity, and how far its link has come."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, or_, select, update

from patchwright.core.clock import Clock
from patchwright.core.types.people import Actor
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables_people import link_requests
from patchwright.workers.db.upsert import insert_once
from patchwright.workers.store.link_rows import (
    LinkRequest,
    find_request,
    open_request,
)

INVITATION_LIFETIME: Final = timedelta(minutes=15)
TIME_AT_FORGE: Final = timedelta(minutes=10)
MAX_INVITATIONS_PER_HOUR: Final = 5
_HOUR: Final = timedelta(hours=1)
_TOKEN_BYTES: Final = 32
_NOBODY: Final = dict.fromkeys(("person_service", "person_subject", "person_login"))
# What an invitation begins without.
_NOTHING: Final = _NOBODY | dict.fromkeys(
    ("browser", "state", "state_until", "used_at")
)


class LinkStore:
    """Keeps digests alone: what was told to people and browsers is not here."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def invite(self, actor: Actor) -> str | None:
        """Return the word of a new link, which is the only one that counts now.

        None where the actor had too many within the hour.
        """
        token, now = secrets.token_urlsafe(_TOKEN_BYTES), self._clock.now()
        fresh = {
            "login": actor.login,
            "digest": digest_of(token),
            "expires_at": now + INVITATION_LIFETIME,
        }
        with self._database.writing() as connection:
            first = _key(actor) | fresh | {"hour_from": now, "in_hour": 1}
            if insert_once(connection, link_requests, first):
                return token
            hour = _hour(connection, actor, now)
            is_one_more = hour["in_hour"] <= MAX_INVITATIONS_PER_HOUR
            connection.execute(
                update(link_requests)
                .where(_is(actor))
                .values(hour | (fresh | _NOTHING if is_one_more else {}))
            )
        return token if is_one_more else None

    def count_refused(self, actor: Actor) -> int:
        """Return how often the actor was refused a link within the hour."""
        query = select(link_requests.c.in_hour).where(_is(actor))
        with self._database.reading() as connection:
            asked = connection.scalars(query).one_or_none() or 0
        return max(0, asked - MAX_INVITATIONS_PER_HOUR)

    def find(self, digest: str) -> LinkRequest | None:
        with self._database.reading() as connection:
            return find_request(connection, digest, self._clock.now())

    def begin(self, digest: str, browser: str, state: str) -> bool:
        """Bind the link to a browser that goes to the forge with `state`.

        Tell whether it is that one's now: the first to begin has it.
        """
        now = self._clock.now()
        begun = (
            open_request(digest, now)
            .where(
                or_(
                    link_requests.c.browser.is_(None),
                    link_requests.c.browser == browser,
                )
            )
            .values(
                browser=browser,
                state=state,
                state_until=now + TIME_AT_FORGE,
                **_NOBODY,
            )
        )
        with self._database.writing() as connection:
            return connection.execute(begun).rowcount == 1

    def use_state(self, digest: str, browser: str, state: str) -> bool:
        """Tell whether that browser came back with what it was sent with; once."""
        now = self._clock.now()
        used = open_request(digest, now).where(
            link_requests.c.browser == browser,
            link_requests.c.state == state,
            link_requests.c.state_until > now,
        )
        with self._database.writing() as connection:
            return connection.execute(used.values(state=None)).rowcount == 1


def digest_of(word: str) -> str:
    """Return what is kept of a word of 256 random bits: nobody guesses it from that."""
    return hashlib.sha256(word.encode()).hexdigest()


def _hour(connection: Connection, actor: Actor, now: datetime) -> dict[str, Any]:
    """Return the hour in which invitations are counted, with one more in it."""
    query = select(link_requests.c.hour_from, link_requests.c.in_hour)
    row = connection.execute(query.where(_is(actor)).with_for_update()).one()
    if row.hour_from + _HOUR <= now:
        return {"hour_from": now, "in_hour": 1}
    return {"hour_from": row.hour_from, "in_hour": row.in_hour + 1}


def _key(actor: Actor) -> dict[str, str]:
    return {
        "service": actor.service,
        "host": actor.host,
        "subject": actor.subject,
    }


def _is(actor: Actor) -> ColumnElement[bool]:
    return and_(
        *(link_requests.c[name] == value for name, value in _key(actor).items())
    )
