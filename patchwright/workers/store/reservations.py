"""Money set aside for model calls, so that parallel runs share one ceiling."""

import math
from collections.abc import Iterator
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, func, insert, select, text, update

from patchwright.core.types.base import AccountId, Ids, JobId, Value
from patchwright.core.types.threads import RepoRef
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import reservations

_MICRO = 1_000_000
# Any number will do that no other user of the database takes.
_MONEY_LOCK = 7_305_117


class BudgetScope(StrEnum):
    RUN = "run"
    USER_DAY = "user-day"
    REPO_DAY = "repo-day"
    DAY = "day"


class Spender(Value):
    """For whom, where and when money is spent; `day` is a day in UTC."""

    job_id: JobId
    account_id: AccountId
    repo: RepoRef
    day: date


class Ceilings(Value):
    """The most that may be spent; None is no ceiling."""

    run_usd: float | None = None
    user_day_usd: float | None = None
    repo_day_usd: float | None = None
    day_usd: float | None = None


class Reservation(Value):
    id: str
    amount_usd: float


class CeilingUse(Value):
    """Of the ceiling of `scope`, `taken_usd` is spent or set aside."""

    scope: BudgetScope
    ceiling_usd: float
    taken_usd: float


class BudgetRefusal(CeilingUse):
    """The amount that was asked for would pass that ceiling."""


class ReservationStore:
    def __init__(self, database: Database, ids: Ids) -> None:
        self._database = database
        self._ids = ids

    def reserve(
        self, spender: Spender, amount_usd: float, ceilings: Ceilings
    ) -> Reservation | BudgetRefusal:
        """Set the amount aside, or say which ceiling it would pass.

        What was reserved and never settled counts in full: its worker may be dead, but
        the call may have been made.
        """
        amount = _micro(amount_usd, ROUND_CEILING)
        with self._database.writing() as connection:
            self._take_turns(connection)
            for scope, ceiling_usd, rows in _bounds(spender, ceilings):
                taken = _sum(connection, rows, assumed=scope is not BudgetScope.RUN)
                if taken + amount > _micro(ceiling_usd, ROUND_FLOOR):
                    return BudgetRefusal(
                        scope=scope, ceiling_usd=ceiling_usd, taken_usd=taken / _MICRO
                    )
            return self._insert(connection, spender, amount)

    def settle(
        self, reservation: Reservation, spent_usd: float, *, assumed_usd: float = 0.0
    ) -> None:
        """Replace the reserved amount by what was spent, be it less or more.

        `assumed_usd` is what a try of an unknown price is taken to have cost: it counts
        against the ceilings of the day, and not against that of the run, which holds by
        tokens then.
        """
        settled = (
            update(reservations)
            .where(reservations.c.id == reservation.id)
            .values(
                settled_micro_usd=_micro(spent_usd, ROUND_CEILING),
                assumed_micro_usd=_micro(assumed_usd, ROUND_CEILING),
            )
        )
        with self._database.writing() as connection:
            connection.execute(settled)

    def spent_usd(self, job_id: JobId) -> float:
        """Return what a run has taken so far, in all its attempts."""
        with self._database.reading() as connection:
            return _sum(connection, reservations.c.job_id == job_id) / _MICRO

    def day_uses(self, spender: Spender, ceilings: Ceilings) -> tuple[CeilingUse, ...]:
        """Return how much is gone of each ceiling of the day."""
        with self._database.reading() as connection:
            return tuple(
                CeilingUse(
                    scope=scope,
                    ceiling_usd=ceiling_usd,
                    taken_usd=_sum(connection, rows, assumed=True) / _MICRO,
                )
                for scope, ceiling_usd, rows in _bounds(spender, ceilings)
                if scope is not BudgetScope.RUN
            )

    def dearest_usd(self, since: date) -> float:
        """Return what the dearest call since a day has cost; 0 if there was none."""
        dearest = select(func.max(reservations.c.settled_micro_usd)).where(
            reservations.c.day >= since.isoformat()
        )
        with self._database.reading() as connection:
            return int(connection.scalars(dearest).one() or 0) / _MICRO

    def _take_turns(self, connection: Connection) -> None:
        """Let one transaction after the other look at the sums and add to them."""
        if not self._database.is_sqlite:
            lock = text("SELECT pg_advisory_xact_lock(:number)")
            connection.execute(lock, {"number": _MONEY_LOCK})

    def _insert(
        self, connection: Connection, spender: Spender, amount: int
    ) -> Reservation:
        reservation = Reservation(id=self._ids.new(), amount_usd=amount / _MICRO)
        row = {
            "id": reservation.id,
            "job_id": spender.job_id,
            "account_id": spender.account_id,
            "repo": str(spender.repo),
            "day": spender.day.isoformat(),
            "reserved_micro_usd": amount,
        }
        connection.execute(insert(reservations).values(row))
        return reservation


def _bounds(
    spender: Spender, ceilings: Ceilings
) -> Iterator[tuple[BudgetScope, float, ColumnElement[bool]]]:
    """List the ceilings there are, each with the rows that count against it."""
    table = reservations.c
    today = table.day == spender.day.isoformat()
    user_today = today & (table.account_id == spender.account_id)
    repo_today = today & (table.repo == str(spender.repo))
    bounds = (
        (BudgetScope.RUN, ceilings.run_usd, table.job_id == spender.job_id),
        (BudgetScope.USER_DAY, ceilings.user_day_usd, user_today),
        (BudgetScope.REPO_DAY, ceilings.repo_day_usd, repo_today),
        (BudgetScope.DAY, ceilings.day_usd, today),
    )
    for scope, ceiling_usd, rows in bounds:
        if ceiling_usd is not None:
            yield scope, ceiling_usd, rows


def _sum(
    connection: Connection, rows: ColumnElement[bool], *, assumed: bool = False
) -> int:
    counted: ColumnElement[int] = func.coalesce(
        reservations.c.settled_micro_usd, reservations.c.reserved_micro_usd
    )
    if assumed:
        counted += func.coalesce(reservations.c.assumed_micro_usd, 0)
    return int(connection.scalars(select(func.sum(counted)).where(rows)).one() or 0)


def _micro(amount_usd: float, rounding: str) -> int:
    """Return whole millionths; raises `ValueError` for other than money."""
    if not math.isfinite(amount_usd) or amount_usd < 0:
        raise ValueError(f"{amount_usd} is not an amount of money")
    # The text of a float is the number a person would write; its bits are not.
    exact = Decimal(str(amount_usd)) * _MICRO
    return int(exact.to_integral_value(rounding))
