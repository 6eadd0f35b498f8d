"""Totals of runs, money and deliveries, reading the rows of earlier days once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

import sqlalchemy as sa

from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.tables import deliveries, ended_runs, reservations
from patchwright.workers.ops.catalogue import RUN_BUCKETS_S, WAIT_BUCKETS_S

# What was stored by a machine whose clock is slow, or by a transaction that took long.
_LATE_ROWS: Final = timedelta(minutes=10)

Numbers = tuple[float, ...]
Labels = tuple[str, ...]
LabelTotals = dict[Labels, Numbers]
_Column = sa.ColumnElement[Any]


@dataclass(frozen=True)
class PeriodTotals:
    """Sums by labels: of all time, and since midnight in UTC."""

    ever: LabelTotals
    today: LabelTotals


class RunningTotals:
    """Sums of a table, by its first columns.

    `query` selects `labels` columns to group by, and then the sums. `when` has the
    moment or the day of a row. Not for several threads at once.
    """

    def __init__(
        self, query: sa.Select[*tuple[Any, ...]], labels: int, when: _Column
    ) -> None:
        self._query, self._labels, self._when = query, labels, when
        self._past: LabelTotals = {}
        self._past_until: datetime | None = None

    def count(self, connection: sa.Connection, now: datetime) -> PeriodTotals:
        border = midnight(now - _LATE_ROWS)
        if self._past_until != border:
            more = self._sum(connection, self._past_until, border)
            self._past, self._past_until = add_totals(self._past, more), border
        newest = self._sum(connection, border, None)
        is_same = border == midnight(now)
        today = newest if is_same else self._sum(connection, midnight(now), None)
        return PeriodTotals(ever=add_totals(self._past, newest), today=today)

    def _sum(
        self, connection: sa.Connection, start: datetime | None, end: datetime | None
    ) -> LabelTotals:
        bounds: list[sa.ColumnElement[bool]] = [sa.true()]
        if start is not None:
            bounds.append(self._when >= self._spelled(start))
        if end is not None:
            bounds.append(self._when < self._spelled(end))
        rows = connection.execute(self._query.where(*bounds))
        return dict(map(self._split, rows))

    def _spelled(self, moment: datetime) -> datetime | str:
        """Return a border, which is a midnight, as the column has it."""
        is_time = isinstance(self._when.type, AwareTime)
        return moment if is_time else moment.date().isoformat()

    def _split(self, row: sa.Row[*tuple[Any, ...]]) -> tuple[Labels, Numbers]:
        # A sum of no rows is null, and one of PostgreSQL is a decimal.
        numbers = tuple(float(number or 0) for number in row[self._labels :])
        return tuple(map(str, row[: self._labels])), numbers


def add_totals(one: LabelTotals, other: LabelTotals) -> LabelTotals:
    total = dict(one)
    for labels, numbers in other.items():
        before = total.get(labels, (0.0,) * len(numbers))
        total[labels] = tuple(a + b for a, b in zip(before, numbers, strict=True))
    return total


def group_totals(totals: LabelTotals, *positions: int) -> LabelTotals:
    """Add up what has the same labels at these positions."""
    grouped: LabelTotals = {}
    for labels, numbers in totals.items():
        chosen = tuple(labels[position] for position in positions)
        grouped = add_totals(grouped, {chosen: numbers})
    return grouped


def midnight(moment: datetime) -> datetime:
    """Return the beginning of that day in UTC."""
    return datetime.combine(moment.astimezone(UTC).date(), time(), UTC)


# Where the numbers of runs are in a row.
COUNT_COLUMN: Final = 0
TOKEN_COLUMNS: Final = slice(1, 4)
DURATION_COLUMNS: Final = slice(4, 5 + len(RUN_BUCKETS_S))
WAIT_COLUMNS: Final = slice(
    DURATION_COLUMNS.stop, DURATION_COLUMNS.stop + 1 + len(WAIT_BUCKETS_S)
)


def run_totals() -> RunningTotals:
    """Count runs by service, trigger, outcome and proof.

    The numbers are those runs, their tokens in, out and cached, and for what they took
    and waited first the seconds and then how many there are up to each bucket.
    """
    table = ended_runs.c
    labels = (table.service, table.kind, table.outcome, table.proof)
    query = sa.select(
        *labels,
        sa.func.count(),
        sa.func.sum(table.tokens_in),
        sa.func.sum(table.tokens_out),
        sa.func.sum(table.tokens_cached),
        *_histogram(table.took_s, RUN_BUCKETS_S),
        *_histogram(table.waited_s, WAIT_BUCKETS_S),
    ).group_by(*labels)
    return RunningTotals(query, len(labels), table.ended_at)


def money_totals() -> RunningTotals:
    """Add up what was spent, and what was set aside and not settled, in millionths."""
    table = reservations.c
    unsettled = sa.case(
        (table.settled_micro_usd.is_(None), table.reserved_micro_usd), else_=0
    )
    query: sa.Select[float, float] = sa.select(
        sa.func.sum(table.settled_micro_usd), sa.func.sum(unsettled)
    )
    return RunningTotals(query, 0, table.day)


def delivery_totals() -> RunningTotals:
    """Count deliveries by service and verdict."""
    table = deliveries.c
    labels = (table.service, table.verdict)
    query = sa.select(*labels, sa.func.count()).group_by(*labels)
    return RunningTotals(query, len(labels), table.received_at)


def _histogram(
    column: sa.ColumnElement[float], buckets: Sequence[float]
) -> list[sa.ColumnElement[float]]:
    up_to = (sa.func.sum(sa.case((column <= bound, 1), else_=0)) for bound in buckets)
    return [sa.func.sum(column), *up_to]
