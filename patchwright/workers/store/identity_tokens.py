"""What people let us do in their name on a forge: tokens, renewed one at a time."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final, assert_never

import structlog
from pydantic import SecretStr
from sqlalchemy import Connection, Row, select, update

from patchwright.core.system.clock import Clock
from patchwright.core.system.crypto import DecryptionError
from patchwright.core.types.base import AccountId
from patchwright.core.types.errors import AuthenticationError, ServiceError
from patchwright.core.types.people import PersonalToken
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import identities
from patchwright.workers.store.secrets import SecretStore, forget_secret

Renew = Callable[[SecretStr], PersonalToken]

USER_TOKEN: Final = "user-token"  # noqa: S105 - the name of one
# Renewed this long before its end, so that what is handed out lasts for a request.
_MARGIN: Final = timedelta(minutes=5)
_FIRST_WAIT: Final = timedelta(seconds=30)
_LONGEST_WAIT: Final = timedelta(hours=1)
# Who has not come back by then is taken for dead, and another process asks. It is more
# than a renewal ever waits for the forge.
LONGEST_RENEWAL: Final = timedelta(seconds=15)
_MOMENT_S: Final = 0.1

log = structlog.get_logger(__name__)


class _Turn(Enum):
    """Whose it is to renew a token. `OVER`: somebody has, or it is gone."""

    OURS = auto()
    THEIRS = auto()
    NOBODYS = auto()
    OVER = auto()


class IdentityTokens:
    """The tokens of people of one forge, `service` at `host`, by their account.

    `renew` raises `AuthenticationError` where only the person can help. A refresh token
    counts once, so one process at a time asks for a new one. It says so in the
    identity's row, and nothing is locked while it waits for the forge's answer.
    """

    def __init__(
        self,
        database: Database,
        secrets: SecretStore,
        renew: Renew,
        clock: Clock,
        *,
        service: str,
        host: str,
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._renew = renew
        self._clock = clock
        self._is_ours = (identities.c.service == service, identities.c.host == host)

    def fetch(self, account_id: AccountId) -> SecretStr | None:
        """Return a token that counts now, or None where there is none to be had."""
        while grant := self._stored(account_id):
            if not self._is_due(grant):
                return grant.access_token
            match self._take_turn(account_id, grant):
                case _Turn.OURS:
                    self._renew_stored(account_id, grant)
                    return self._usable(self._stored(account_id))
                case _Turn.THEIRS if self._usable(grant) is None:
                    self._clock.sleep(_MOMENT_S)
                case _Turn.THEIRS | _Turn.NOBODYS:
                    return self._usable(grant)
                case _Turn.OVER:
                    pass
                case never:
                    assert_never(never)
        return None

    def keep(
        self, connection: Connection, account_id: AccountId, grant: PersonalToken
    ) -> None:
        """Put the grant in the place of an older one."""
        text = serialize_grant(grant)
        self._secrets.put_in(connection, USER_TOKEN, text, owner=account_id)
        connection.execute(
            update(identities)
            .where(identities.c.account_id == account_id, *self._is_ours)
            .values(
                renew_after=None,
                renewing_until=None,
                failures=0,
                needs_reauth=False,
                is_reported=False,
            )
        )

    def claim_report(self, account_id: AccountId) -> bool:
        """Return once whether the person must be asked to link again."""
        claim = update(identities).where(
            identities.c.account_id == account_id,
            identities.c.needs_reauth.is_(True),
            identities.c.is_reported.is_(False),
            *self._is_ours,
        )
        with self._database.writing() as connection:
            return connection.execute(claim.values(is_reported=True)).rowcount == 1

    def _take_turn(self, account_id: AccountId, grant: PersonalToken) -> _Turn:
        with self._database.writing() as connection:
            row = self._lock(connection, account_id)
            if row is None:
                return _Turn.NOBODYS
            if self._read(connection, account_id) != grant:
                return _Turn.OVER
            if not self._may_try(row):
                return _Turn.NOBODYS
            now = self._database.now(connection)
            if row.renewing_until is not None and row.renewing_until > now:
                return _Turn.THEIRS
            _note(connection, row, renewing_until=now + LONGEST_RENEWAL)
            return _Turn.OURS

    def _renew_stored(self, account_id: AccountId, grant: PersonalToken) -> None:
        """Put a new grant in the place of this one, or note why there is none."""
        came = self._ask(account_id, grant)
        with self._database.writing() as connection:
            row = self._lock(connection, account_id)
            # The person unlinked or linked again in the meantime, or another process
            # renewed it.
            if row is None or self._read(connection, account_id) != grant:
                return
            match came:
                case PersonalToken():
                    self.keep(connection, account_id, came)
                case AuthenticationError():
                    _note(connection, row, needs_reauth=True, renewing_until=None)
                case ServiceError():
                    _note(
                        connection,
                        row,
                        failures=row.failures + 1,
                        renew_after=self._clock.now() + _wait(row.failures),
                        renewing_until=None,
                    )
                case never:
                    assert_never(never)

    def _ask(
        self, account_id: AccountId, grant: PersonalToken
    ) -> PersonalToken | ServiceError:
        """Ask the forge, which may take its time: no transaction may be open."""
        try:
            return self._renew(grant.refresh_token or SecretStr(""))
        except AuthenticationError as error:
            log.warning("user_token_lost", account_id=account_id)
            return error
        except ServiceError as error:
            log.warning(
                "user_token_not_renewed", account_id=account_id, reason=error.reason
            )
            return error

    def _lock(
        self, connection: Connection, account_id: AccountId
    ) -> Row[*tuple[Any, ...]] | None:
        theirs = (identities.c.account_id == account_id, *self._is_ours)
        mine = select(identities).where(*theirs).limit(1).with_for_update()
        return connection.execute(mine).first()

    def _usable(self, grant: PersonalToken | None) -> SecretStr | None:
        if grant is None:
            return None
        still = grant.expires_at is None or grant.expires_at > self._clock.now()
        return grant.access_token if still else None

    def _stored(self, account_id: AccountId) -> PersonalToken | None:
        with self._database.reading() as connection:
            return self._read(connection, account_id)

    def _may_try(self, row: Row[*tuple[Any, ...]]) -> bool:
        if row.needs_reauth:
            return False
        return row.renew_after is None or row.renew_after <= self._clock.now()

    def _is_due(self, grant: PersonalToken) -> bool:
        if grant.expires_at is None:
            return False
        return grant.expires_at <= self._clock.now() + _MARGIN

    def _read(
        self, connection: Connection, account_id: AccountId
    ) -> PersonalToken | None:
        try:
            text = self._secrets.fetch_in(connection, USER_TOKEN, owner=account_id)
        except DecryptionError as error:
            log.warning("user_token_unreadable", error=str(error))
            return None
        return parse_grant(text) if text else None


def forget_grant(connection: Connection, account_id: AccountId) -> None:
    forget_secret(connection, USER_TOKEN, account_id)


def parse_grant(text: SecretStr) -> PersonalToken:
    return PersonalToken.model_validate_json(text.get_secret_value())


def serialize_grant(grant: PersonalToken) -> SecretStr:
    """Write a grant down, with what is secret about it."""
    renewal = grant.refresh_token
    facts = grant.model_dump(mode="json") | {
        "access_token": grant.access_token.get_secret_value(),
        "refresh_token": renewal.get_secret_value() if renewal else None,
    }
    return SecretStr(json.dumps(facts))


def _wait(failures: int) -> timedelta:
    # Twice as long each time; ten times are more than the longest wait.
    doubled = _FIRST_WAIT * (1 << min(failures, 10))
    return min(doubled, _LONGEST_WAIT)


def _note(
    connection: Connection,
    row: Row[*tuple[Any, ...]],
    **values: bool | int | datetime | None,
) -> None:
    mine = update(identities).where(identities.c.id == row.id)
    connection.execute(mine.values(values))
