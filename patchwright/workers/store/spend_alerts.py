"""Warnings that a ceiling of the day is used up to 50, 80 or 100 %, each given once."""

from datetime import date, datetime
from typing import Final, assert_never

import structlog
from sqlalchemy import select

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.workers.db.database import Database, insert_once
from patchwright.workers.db.tables import spend_alerts
from patchwright.workers.store.reservations import BudgetScope, CeilingUse, Spender

ALERT_PERCENTS: Final = (50, 80, 100)
_MICRO: Final = 1_000_000
_MOST_REMEMBERED: Final = 10_000

log = structlog.get_logger(__name__)


class SpendAlert(Value):
    """On that `day` the ceiling was used up to `percent` for the first time.

    `subject` is an account's id, a repository as `str(RepoRef)`, or empty for everybody
    together; money is in USD.
    """

    day: date
    scope: BudgetScope
    subject: str
    percent: int
    taken_usd: float
    ceiling_usd: float
    noted_at: datetime


class SpendAlertStore:
    """Keeps what was warned of, for all processes and across their restarts."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        # Spares the database a write for each call after the first that was over.
        self._known: set[tuple[str, ...]] = set()

    def note(
        self, spender: Spender, use: CeilingUse, *, is_used_up: bool = False
    ) -> int | None:
        """Warn in the log, and return the percent, if it is reached for the first time.

        `is_used_up` says that what is left does not suffice for another call.
        """
        reached = ALERT_PERCENTS if is_used_up else _reached(use)
        new = [one for one in reached if self._is_new(spender, use, one)]
        if not new:
            return None
        percent = max(new)
        log.warning(
            "spend_alert",
            scope=use.scope,
            percent=percent,
            taken_usd=round(use.taken_usd, 4),
            ceiling_usd=use.ceiling_usd,
            day=spender.day.isoformat(),
            subject=subject_of(spender, use.scope),
        )
        return percent

    def may_be_new(self, spender: Spender, use: CeilingUse) -> bool:
        """Tell, without the database, whether such a use may be one to warn of."""
        return any(_key(spender, use, one) not in self._known for one in _reached(use))

    def list_since(self, day: date) -> tuple[SpendAlert, ...]:
        """Return the warnings of the days from that one on, the newest first."""
        table = spend_alerts.c
        query = (
            select(spend_alerts)
            .where(table.day >= day.isoformat())
            .order_by(table.noted_at.desc(), table.percent.desc(), table.scope)
        )
        with self._database.reading() as connection:
            return tuple(
                SpendAlert(
                    day=date.fromisoformat(row.day),
                    scope=BudgetScope(row.scope),
                    subject=row.subject,
                    percent=row.percent,
                    taken_usd=row.taken_micro_usd / _MICRO,
                    ceiling_usd=row.ceiling_micro_usd / _MICRO,
                    noted_at=row.noted_at,
                )
                for row in connection.execute(query)
            )

    def _is_new(self, spender: Spender, use: CeilingUse, percent: int) -> bool:
        key = _key(spender, use, percent)
        if key in self._known:
            return False
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        row = {
            "day": spender.day.isoformat(),
            "scope": use.scope,
            "subject": subject_of(spender, use.scope),
            "percent": percent,
            "taken_micro_usd": round(use.taken_usd * _MICRO),
            "ceiling_micro_usd": round(use.ceiling_usd * _MICRO),
            "noted_at": self._clock.now(),
        }
        with self._database.writing() as connection:
            is_new = insert_once(connection, spend_alerts, row)
        self._known.add(key)
        return is_new


def _reached(use: CeilingUse) -> list[int]:
    used = use.taken_usd * 100
    return [one for one in ALERT_PERCENTS if used >= use.ceiling_usd * one]


def _key(spender: Spender, use: CeilingUse, percent: int) -> tuple[str, ...]:
    subject = subject_of(spender, use.scope)
    return (spender.day.isoformat(), use.scope, subject, str(percent))


def subject_of(spender: Spender, scope: BudgetScope) -> str:
    """Return whose ceiling it is: an account, a repository, or everybody's."""
    match scope:
        case BudgetScope.USER_DAY:
            return spender.account_id
        case BudgetScope.REPO_DAY:
            return str(spender.repo)
        case BudgetScope.DAY | BudgetScope.RUN:
            return ""
        case _:
            assert_never(scope)
