"""Carry out a link in one transaction: identities, the token, and who waited for it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from sqlalchemy import Connection

from patchwright.core.clock import Clock
from patchwright.core.crypto import DecryptionError
from patchwright.core.types.grants import PersonalToken
from patchwright.core.types.ids import AccountId, JobId
from patchwright.core.types.people import Actor
from patchwright.workers.db.database import Database
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.active import (
    ActiveJob,
    find_active_job,
    list_active_jobs,
    wake_job,
)
from patchwright.workers.store.fencing import lock_conversation
from patchwright.workers.store.identity_tokens import (
    IdentityTokens,
    parse_grant,
    serialize_grant,
)
from patchwright.workers.store.job import JobState
from patchwright.workers.store.link_rows import LinkRequest, mark_proven, mark_used
from patchwright.workers.store.secrets import (
    SecretStore,
    forget_expired,
    forget_secret,
)

# A grant of somebody who has not confirmed yet, kept as long as they may.
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
            if not mark_used(connection, request.digest, browser, person, self.clock.now()):
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
    """Let what the actor asked for go on, where it waits for a person."""
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
    if newest.state is not JobState.WAITING_USER:
        return False
    wake_job(connection, job.id, now)
    return True
