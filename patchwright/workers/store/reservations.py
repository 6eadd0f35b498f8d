"""Money set aside for model calls, so that parallel runs share one ceiling."""

import math
from collections.abc import Container, Mapping
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    func,
    insert,
    or_,
    select,
    text,
    true,
    update,
)

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


class CeilingUse(Value):
    """Of the ceiling of `scope`, `taken_usd` is spent or set aside."""

    scope: BudgetScope
    ceiling_usd: float
    taken_usd: float


class Reservation(Value):
    """An amount set aside; `uses` are those of the day's ceilings, with it."""

    id: str
    amount_usd: float
    uses: tuple[CeilingUse, ...] = ()

    def uses_after(self, spent_usd: float) -> tuple[CeilingUse, ...]:
        """Return the most that may be gone of the day's ceilings when it is settled.

        Whoever has reserved later has seen this amount, and knows of more.
        """
        more_usd = max(0.0, spent_usd - self.amount_usd)
        return tuple(
            one.replace(taken_usd=one.taken_usd + more_usd) for one in self.uses
        )


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
            taken = _taken(connection, spender, _bounds(ceilings))
            for scope, ceiling_usd in _bounds(ceilings).items():
                if taken[scope] + amount > _micro(ceiling_usd, ROUND_FLOOR):
                    return BudgetRefusal(
                        scope=scope,
                        ceiling_usd=ceiling_usd,
                        taken_usd=taken[scope] / _MICRO,
                    )
            reservation_id = self._insert(connection, spender, amount)
        with_it = {scope: sum_ + amount for scope, sum_ in taken.items()}
        return Reservation(
            id=reservation_id,
            amount_usd=amount / _MICRO,
            uses=_uses(with_it, _day_bounds(ceilings)),
        )

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
            return _run_sum(connection, job_id) / _MICRO

    def day_uses(self, spender: Spender, ceilings: Ceilings) -> tuple[CeilingUse, ...]:
        """Return how much is gone of each ceiling of the day."""
        bounds = _day_bounds(ceilings)
        with self._database.reading() as connection:
            return _uses(_taken(connection, spender, bounds), bounds)

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

    def _insert(self, connection: Connection, spender: Spender, amount: int) -> str:
        reservation_id = self._ids.new()
        row = {
            "id": reservation_id,
            "job_id": spender.job_id,
            "account_id": spender.account_id,
            "repo": str(spender.repo),
            "day": spender.day.isoformat(),
            "reserved_micro_usd": amount,
        }
        connection.execute(insert(reservations).values(row))
        return reservation_id


def _bounds(ceilings: Ceilings) -> Mapping[BudgetScope, float]:
    """Return the ceilings that there are, in the order in which they count."""
    bounds = {
        BudgetScope.RUN: ceilings.run_usd,
        BudgetScope.USER_DAY: ceilings.user_day_usd,
        BudgetScope.REPO_DAY: ceilings.repo_day_usd,
        BudgetScope.DAY: ceilings.day_usd,
    }
    return {scope: most for scope, most in bounds.items() if most is not None}


def _day_bounds(ceilings: Ceilings) -> Mapping[BudgetScope, float]:
    return _bounds(ceilings.replace(run_usd=None))


def _uses(
    taken: Mapping[BudgetScope, int], bounds: Mapping[BudgetScope, float]
) -> tuple[CeilingUse, ...]:
    return tuple(
        CeilingUse(
            scope=scope, ceiling_usd=ceiling_usd, taken_usd=taken[scope] / _MICRO
        )
        for scope, ceiling_usd in bounds.items()
    )


_COUNTED: Final[ColumnElement[int]] = func.coalesce(
    reservations.c.settled_micro_usd, reservations.c.reserved_micro_usd
)
_ASSUMED: Final[ColumnElement[int]] = func.coalesce(reservations.c.assumed_micro_usd, 0)


def _taken(
    connection: Connection, spender: Spender, scopes: Container[BudgetScope]
) -> Mapping[BudgetScope, int]:
    """Return what is spent or set aside; the rows of the day are read once for all."""
    table = reservations.c
    parts: tuple[tuple[BudgetScope, ColumnElement[bool]], ...] = (
        (BudgetScope.USER_DAY, table.account_id == spender.account_id),
        (BudgetScope.REPO_DAY, table.repo == str(spender.repo)),
        (BudgetScope.DAY, true()),
    )
    wanted = {scope: rows for scope, rows in parts if scope in scopes}
    taken: dict[BudgetScope, int] = {}
    if BudgetScope.RUN in scopes:
        taken[BudgetScope.RUN] = _run_sum(connection, spender.job_id)
    if wanted:
        sums = [func.sum(_COUNTED + _ASSUMED).filter(one) for one in wanted.values()]
        today = table.day == spender.day.isoformat()
        query = select(*sums).where(today, or_(*wanted.values()))
        found = connection.execute(query).one()
        taken |= {
            scope: int(one or 0) for scope, one in zip(wanted, found, strict=True)
        }
    return taken


def _run_sum(connection: Connection, job_id: JobId) -> int:
    rows = reservations.c.job_id == job_id
    return int(connection.scalar(select(func.sum(_COUNTED)).where(rows)) or 0)


def _micro(amount_usd: float, rounding: str) -> int:
    """Return whole millionths; raises `ValueError` for other than money."""
    if not math.isfinite(amount_usd) or amount_usd < 0:
        raise ValueError(f"{amount_usd} is not an amount of money")
    # The text of a float is the number a person would write; its bits are not.
    exact = Decimal(str(amount_usd)) * _MICRO
    return int(exact.to_integral_value(rounding))
