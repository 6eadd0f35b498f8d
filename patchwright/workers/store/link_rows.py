"""The rows of invitations: what each says, and the steps that it allows."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, Update, select, update

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.workers.db.tables_people import link_requests
from patchwright.workers.store.identities import actor_of


class LinkStatus(StrEnum):
    OPEN = "open"
    EXPIRED = "expired"
    USED = "used"


class LinkRequest(Value):
    """An actor who wants to be linked.

    `digest` names it. `browser` is the digest of the browser that it is bound to, if it
    is by now, and `person` who was proved there to be in front of it.
    """

    digest: str
    actor: Actor
    status: LinkStatus
    expires_at: datetime
    browser: str | None = None
    person: Actor | None = None


def find_request(
    connection: Connection, digest: str, now: datetime
) -> LinkRequest | None:
    query = select(link_requests).where(link_requests.c.digest == digest)
    row = connection.execute(query).one_or_none()
    return _request(row, now) if row else None


def mark_proven(
    connection: Connection, digest: str, browser: str, person: Actor, now: datetime
) -> bool:
    """Note who is in front of the browser; tell whether the link is still its own."""
    proved = open_request(digest, now).where(link_requests.c.browser == browser)
    facts = {
        "person_service": person.service,
        "person_subject": person.external_id,
        "person_login": person.login,
    }
    return connection.execute(proved.values(facts)).rowcount == 1


def mark_used(
    connection: Connection, digest: str, browser: str, person: Actor, now: datetime
) -> bool:
    """Use the link up, for that person; tell whether it could be."""
    used = open_request(digest, now).where(
        link_requests.c.browser == browser,
        link_requests.c.person_service == person.service,
        link_requests.c.person_subject == person.external_id,
    )
    return connection.execute(used.values(used_at=now)).rowcount == 1


def open_request(digest: str, now: datetime) -> Update:
    return update(link_requests).where(
        link_requests.c.digest == digest,
        link_requests.c.used_at.is_(None),
        link_requests.c.expires_at > now,
    )


def _request(row: Row[*tuple[Any, ...]], now: datetime) -> LinkRequest:
    return LinkRequest(
        digest=row.digest,
        actor=actor_of(row).replace(host=row.host),
        status=_status(row, now),
        expires_at=row.expires_at,
        browser=row.browser,
        person=_person(row),
    )


def _status(row: Row[*tuple[Any, ...]], now: datetime) -> LinkStatus:
    if row.used_at is not None:
        return LinkStatus.USED
    return LinkStatus.OPEN if row.expires_at > now else LinkStatus.EXPIRED


def _person(row: Row[*tuple[Any, ...]]) -> Actor | None:
    if row.person_subject is None:
        return None
    return Actor(
        service=row.person_service,
        login=row.person_login,
        external_id=row.person_subject,
    )
