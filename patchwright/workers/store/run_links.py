"""Links that open a run to everybody who has them, until they are taken back.

The key in a link is signed, and is not in its row. It opens a run as long as the row
says so: a key without a row opens nothing.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import ConversationId, Ids, JobId, Value
from patchwright.resolver.job import Job
from patchwright.workers.db.database import Database, insert_once
from patchwright.workers.db.notifications import CHANNEL
from patchwright.workers.db.tables import run_links
from patchwright.workers.store.audit import AuditAction, AuditEntry, write_audit

RUN_LINK_LIFETIME: Final = timedelta(days=30)
MAX_OPEN_LINKS: Final = 50
_KEY: Final = re.compile(r"([0-9a-z]{1,64})-([0-9a-f]{64})\Z")
_ID_CHARS: Final = 32
_SHOWN_ID_CHARS: Final = 8


class RunLink(Value):
    """A link without its key; `maker` is who made it, as they were called then.

    `made_by` is their key. Both are empty for the service's own link, which stands in
    its messages about the run.
    """

    id: str
    job_id: JobId
    made_by: str = ""
    maker: str = ""
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None

    def is_open(self, now: datetime) -> bool:
        return self.revoked_at is None and now < self.expires_at


class LinkActor(Value):
    """Who makes a link or takes one back; `key` tells them from everybody else."""

    key: str
    name: str
    account_id: str = ""


@dataclass(frozen=True)
class RunLinkStore:
    """Makes links, and knows which of them are open.

    Without a `secret` or a `public_url` there are no links. `notify` wakes those who
    follow a conversation.
    """

    database: Database
    ids: Ids
    clock: Clock
    secret: bytes | None
    public_url: str
    notify: Callable[[ConversationId], None]

    @property
    def can_make(self) -> bool:
        return bool(self.secret and self.public_url)

    def address_of(self, job_id: JobId) -> str:
        """Return the address of a run's page, which alone opens nothing."""
        return f"{self.public_url}/runs/{job_id}" if self.can_make else ""

    def url_of(self, link: RunLink) -> str:
        """Return the link, the same each time; empty where there can be none."""
        if not self.secret or not self.public_url:
            return ""
        key = f"{link.id}-{_sign(self.secret, link.id, link.job_id)}"
        return f"{self.address_of(link.job_id)}?key={key}"

    def own_url(self, job_id: JobId, created_at: datetime) -> str:
        """Return the service's own link to a run that was asked for at that time.

        Once it is taken back or has expired, it is the address without a key.
        """
        if not self.can_make:
            return ""
        link = RunLink(
            id=job_id,
            job_id=job_id,
            created_at=created_at,
            expires_at=created_at + RUN_LINK_LIFETIME,
        )
        known = self.load(link.id)
        if known is None and link.is_open(self.clock.now()):
            with self.database.writing() as connection:
                insert_once(connection, run_links, dict(link))
            known = self.load(link.id)
        if known is None or not known.is_open(self.clock.now()):
            return self.address_of(job_id)
        return self.url_of(known)

    def make(self, job: Job, by: LinkActor, word: str = "") -> RunLink | None:
        """Make a link; None if there are too many. The same `word` is the same link."""
        now = self.clock.now()
        whose = f"{by.key} {job.id} {word}"
        same = hashlib.sha256(whose.encode()).hexdigest()[:_ID_CHARS]
        link = RunLink(
            id=same if word else self.ids.new(),
            job_id=job.id,
            made_by=by.key,
            maker=by.name,
            created_at=now,
            expires_at=now + RUN_LINK_LIFETIME,
        )
        count = sa.select(sa.func.count()).where(*_is_open(job.id, now))
        with self.database.writing() as connection:
            known = _find(connection, link.id)
            if known is not None:
                return known
            if connection.scalars(count).one() >= MAX_OPEN_LINKS:
                return None
            if insert_once(connection, run_links, dict(link)):
                self._note(connection, AuditAction.RUN_SHARED, link, by)
        return link

    def load(self, link_id: str) -> RunLink | None:
        """Return a link, whether it is open or not."""
        with self.database.reading() as connection:
            return _find(connection, link_id)

    def find(self, job_id: str, key: str) -> RunLink | None:
        """Return the link that a key is of, if it opens this run now."""
        parts = _KEY.match(key)
        if parts is None or not self.secret:
            return None
        if not hmac.compare_digest(_sign(self.secret, parts[1], job_id), parts[2]):
            return None
        link = self.load(parts[1])
        is_open = link is not None and link.is_open(self.clock.now())
        return link if link and is_open and link.job_id == job_id else None

    def open_of(self, job_id: JobId) -> tuple[RunLink, ...]:
        """Return the links that open a run now, the newest first."""
        query = (
            sa.select(run_links)
            .where(*_is_open(job_id, self.clock.now()))
            .order_by(run_links.c.created_at.desc(), run_links.c.id)
        )
        with self.database.reading() as connection:
            return tuple(_link(row) for row in connection.execute(query))

    def still_open(self, ids: Iterable[str]) -> frozenset[str]:
        """Return those of some links that open their runs now."""
        now = self.clock.now()
        query = sa.select(run_links).where(run_links.c.id.in_(sorted(ids)))
        with self.database.reading() as connection:
            found = [_link(row) for row in connection.execute(query)]
        return frozenset(one.id for one in found if one.is_open(now))

    def revoke(
        self, job: Job, ids: Iterable[str], by: LinkActor
    ) -> tuple[RunLink, ...]:
        """Take links to a run back; return those of them that were open."""
        now = self.clock.now()
        taken = []
        with self.database.writing() as connection:
            for link_id in ids:
                theirs = (*_is_open(job.id, now), run_links.c.id == link_id)
                revoking = sa.update(run_links).where(*theirs).values(revoked_at=now)
                if connection.execute(revoking).rowcount != 1:
                    continue
                link = _link(connection.execute(_by_id(link_id)).one())
                self._note(connection, AuditAction.RUN_LINK_REVOKED, link, by)
                taken.append(link)
            if taken and not self.database.is_sqlite:
                # PostgreSQL tells the other processes when this is committed.
                topic = sa.func.pg_notify(CHANNEL, job.conversation_id)
                connection.execute(sa.select(topic))
        if taken:
            self.notify(job.conversation_id)
        return tuple(taken)

    def _note(
        self, connection: sa.Connection, what: AuditAction, link: RunLink, by: LinkActor
    ) -> None:
        entry = AuditEntry(
            at=self.clock.now(),
            account_id=by.account_id,
            what=what,
            about=f"run {link.job_id[:_SHOWN_ID_CHARS]}",
            by=by.key,
            detail=_detail(what, link),
        )
        write_audit(connection, self.ids, entry)


def _detail(what: AuditAction, link: RunLink) -> str:
    name = f"link {link.id[:_SHOWN_ID_CHARS]}"
    if what is AuditAction.RUN_SHARED:
        return f"{name}, until {link.expires_at:%Y-%m-%d %H:%M} UTC"
    return f"{name}, made by {link.maker or 'Patchwright'}"


def _is_open(job_id: str, now: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    own = run_links.c
    return (own.job_id == job_id, own.revoked_at.is_(None), own.expires_at > now)


def _by_id(link_id: str) -> sa.Select[tuple[object, ...]]:
    return sa.select(run_links).where(run_links.c.id == link_id)


def _find(connection: sa.Connection, link_id: str) -> RunLink | None:
    row = connection.execute(_by_id(link_id)).one_or_none()
    return None if row is None else _link(row)


def _link(row: sa.Row[tuple[object, ...]]) -> RunLink:
    return RunLink.model_validate(row, from_attributes=True)


def _sign(secret: bytes, link_id: str, job_id: str) -> str:
    # A key of its own, so that nothing else that is signed passes for a link.
    key = hmac.digest(secret, b"link to a run with a row", "sha256")
    return hmac.digest(key, f"{link_id} {job_id}".encode(), "sha256").hex()
