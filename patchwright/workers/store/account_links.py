"""Link accounts: the invitation, its steps, and the link in one transaction."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import structlog
from sqlalchemy import ColumnElement, Connection, Row, Update, and_, or_, select, update

from patchwright.core.system.clock import Clock
from patchwright.core.system.crypto import DecryptionError
from patchwright.core.types.base import AccountId, JobId, Value
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.core.types.work import Outcome, WaitReason
from patchwright.resolver.job import JobState
from patchwright.workers.db.database import Database, insert_once
from patchwright.workers.db.tables import jobs, link_requests
from patchwright.workers.store.accounts import AccountStore, actor_of
from patchwright.workers.store.identity_tokens import (
    IdentityTokens,
    parse_grant,
    serialize_grant,
)
from patchwright.workers.store.jobs import (
    ActiveJob,
    find_active_job,
    list_active_jobs,
    wake_job,
)
from patchwright.workers.store.leases import lock_conversation
from patchwright.workers.store.secrets import SecretStore, forget_expired, forget_secret


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
    standing: LinkStatus
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
        standing=_status(row, now),
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
    """Stores only digests: the tokens of people and browsers are not stored."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def invite(self, actor: Actor) -> str | None:
        """Return the token of a new link; older links are not valid any more.

        None if the actor had too many within the hour.
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
    """Return the stored digest of a token; its 256 random bits cannot be guessed."""
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


# A grant of a person who has not confirmed yet, stored as long as they can confirm.
_PENDING: Final = "pending-grant"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Linker:
    """Links people to the forge that is at `host`."""

    database: Database
    accounts: AccountStore
    tokens: IdentityTokens
    secrets: SecretStore
    clock: Clock
    host: str

    def prove(
        self, request: LinkRequest, browser: str, person: Actor, grant: PersonalToken
    ) -> bool:
        """Note who came back from the forge; tell whether the link still counts."""
        now = self.clock.now()
        with self.database.writing() as connection:
            forget_expired(connection, _PENDING, now)
            if not mark_proven(connection, request.digest, browser, person, now):
                return False
            self.secrets.put_in(
                connection,
                _PENDING,
                serialize_grant(grant),
                request.expires_at,
                owner=request.digest,
            )
        return True

    def confirm(
        self, request: LinkRequest, browser: str, person: Actor
    ) -> tuple[JobId, ...] | None:
        """Link, once; return the jobs that go on with that, None if it does not count.

        They are to be submitted after it.
        """
        with self.database.writing() as connection:
            if not mark_used(
                connection, request.digest, browser, person, self.clock.now()
            ):
                return None
            account_id = self.accounts.link(
                connection, person, self.host, request.actor
            )
            self._keep_grant(connection, request, account_id)
            return wake_waiting(connection, request.actor, self.clock.now())

    def _keep_grant(
        self, connection: Connection, request: LinkRequest, account_id: AccountId
    ) -> None:
        try:
            text = self.secrets.fetch_in(connection, _PENDING, owner=request.digest)
        except DecryptionError as error:
            log.warning("user_token_unreadable", error=str(error))
            text = None
        forget_secret(connection, _PENDING, request.digest)
        if text is not None:
            self.tokens.keep(connection, account_id, parse_grant(text))


def wake_waiting(
    connection: Connection, actor: Actor, now: datetime
) -> tuple[JobId, ...]:
    """Let what the actor asked for go on, where it waits for who they are.

    A run that waits with a plan or a question of the agent knows that already.
    """
    return tuple(
        job.id
        for job in list_active_jobs(connection)
        if job.state is JobState.WAITING_USER
        and job.trigger.actor.is_same(actor)
        and _wake(connection, job, now)
    )


def _wake(connection: Connection, job: ActiveJob, now: datetime) -> bool:
    lock_conversation(connection, job.conversation_id)
    # It may have gone on or ended until we had the lock.
    newest = find_active_job(connection, job.conversation_id)
    if newest is None or newest.id != job.id:
        return False
    if newest.state is not JobState.WAITING_USER or _has_asked(connection, job.id):
        return False
    wake_job(connection, job.id, now)
    return True


def _has_asked(connection: Connection, job_id: JobId) -> bool:
    """Tell whether the agent itself waits, or a pause, and not the start of the run."""
    kept = connection.scalars(select(jobs.c.outcome).where(jobs.c.id == job_id))
    outcome = kept.one_or_none()
    return bool(outcome) and Outcome.model_validate_json(str(outcome)).reason in set(
        WaitReason
    )
