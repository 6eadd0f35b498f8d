"""Count rows that are only ever added, reading those of earlier days once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, true

# What was stored by a machine whose clock is slow, or by a transaction that took long.
_LATE_ROWS: Final = timedelta(minutes=10)

Numbers = tuple[float, ...]
Labels = tuple[str, ...]
LabelTotals = dict[Labels, Numbers]
T = TypeVar("T")
# Says which rows are from then on, and before then.
TimeFilter = Callable[[datetime | None, datetime | None], ColumnElement[bool]]


@dataclass(frozen=True)
class PeriodTotals:
    """Sums by labels: of all time, and since midnight in UTC."""

    ever: LabelTotals
    today: LabelTotals


class RunningTotals:
    """Sums of a table, by its first columns.

    `query` selects `labels` columns to group by, and then the sums. Not for several
    threads at once.
    """

    def __init__(
        self, query: Select[*tuple[Any, ...]], labels: int, within: TimeFilter
    ) -> None:
        self._query, self._labels, self._within = query, labels, within
        self._past: LabelTotals = {}
        self._past_until: datetime | None = None

    def count(self, connection: Connection, now: datetime) -> PeriodTotals:
        border = midnight(now - _LATE_ROWS)
        if self._past_until != border:
            more = self._sum(connection, self._past_until, border)
            self._past, self._past_until = add_totals(self._past, more), border
        newest = self._sum(connection, border, None)
        is_same = border == midnight(now)
        today = newest if is_same else self._sum(connection, midnight(now), None)
        return PeriodTotals(ever=add_totals(self._past, newest), today=today)

    def _sum(
        self, connection: Connection, start: datetime | None, end: datetime | None
    ) -> LabelTotals:
        rows = connection.execute(self._query.where(self._within(start, end)))
        return dict(map(self._split, rows))

    def _split(self, row: Row[*tuple[Any, ...]]) -> tuple[Labels, Numbers]:
        # A sum of no rows is null, and one of PostgreSQL is a decimal.
        numbers = tuple(float(number or 0) for number in row[self._labels :])
        return tuple(map(str, row[: self._labels])), numbers


def moment_filter(column: ColumnElement[datetime]) -> TimeFilter:
    """Tell the rows of a time by the moment in a column."""
    return lambda start, end: _between(column, start, end)


def day_filter(column: ColumnElement[str]) -> TimeFilter:
    """Tell the rows of a time by the day in a column; its borders are midnights."""
    return lambda start, end: _between(
        column,
        start.date().isoformat() if start else None,
        end.date().isoformat() if end else None,
    )


def _between(
    column: ColumnElement[T], start: T | None, end: T | None
) -> ColumnElement[bool]:
    bounds: list[ColumnElement[bool]] = []
    if start is not None:
        bounds.append(column >= start)
    if end is not None:
        bounds.append(column < end)
    return and_(true(), *bounds)


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
