"""Metrics of the whole service, true over all its processes and restarts."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

import sqlalchemy as sa
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql.elements import ColumnElement, literal_column

from patchwright.core.system.clock import Clock
from patchwright.resolver.job import ENDED, JobState
from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import (
    deliveries,
    effects,
    ended_runs,
    jobs,
    missed_deliveries,
    reservations,
    spend_alerts,
)
from patchwright.workers.ops import catalogue
from patchwright.workers.ops.catalogue import (
    RUN_BUCKETS_S,
    WAIT_BUCKETS_S,
    Metric,
    MetricKind,
)
from patchwright.workers.ops.health import (
    is_lost,
    live_processes,
    oldest_job_waits_since,
)
from patchwright.workers.store.effects import EffectState

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
        *_histogram_totals(table.took_s, RUN_BUCKETS_S),
        *_histogram_totals(table.waited_s, WAIT_BUCKETS_S),
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


def _histogram_totals(
    column: sa.ColumnElement[float], buckets: Sequence[float]
) -> list[sa.ColumnElement[float]]:
    up_to = (sa.func.sum(sa.case((column <= bound, 1), else_=0)) for bound in buckets)
    return [sa.func.sum(column), *up_to]


_PLANNED_AT: Final = func.coalesce(
    effects.c.planned_at, effects.c.due_at, type_=AwareTime
)
_ACTIVE: Final = tuple(state for state in JobState if state not in ENDED)


Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
_Values = Mapping[Labels, float]


def _family(metric: Metric, values: _Values | float) -> Family:
    """Write a counter or a gauge; a number stands for one without labels."""
    is_counter = metric.kind is MetricKind.COUNTER
    kind = CounterMetricFamily if is_counter else GaugeMetricFamily
    family = kind(metric.name, metric.about, labels=metric.labels)
    given = values if isinstance(values, Mapping) else {(): values}
    for labels, value in given.items():
        family.add_metric(labels, value)
    return family


def _histogram(metric: Metric, totals: LabelTotals, part: slice) -> Family:
    """Write a histogram of totals: the seconds, then how many up to each bucket."""
    family = HistogramMetricFamily(metric.name, metric.about, labels=metric.labels)
    bounds = [str(float(bound)) for bound in metric.buckets]
    for labels, numbers in totals.items():
        seconds, *up_to = numbers[part]
        buckets = [*zip(bounds, up_to, strict=True), ("+Inf", numbers[COUNT_COLUMN])]
        family.add_metric(labels, buckets, sum_value=seconds)
    return family


def _count(connection: Connection, *which: ColumnElement[bool]) -> int:
    return connection.scalars(select(func.count()).where(*which)).one()


def _count_by(
    connection: Connection, column: ColumnElement[str], *which: ColumnElement[bool]
) -> dict[Labels, float]:
    query = select(column, func.count()).where(*which).group_by(column)
    return {(str(row[0]),): row[1] for row in connection.execute(query)}


def _count_alerts(connection: Connection, now: datetime) -> dict[Labels, float]:
    table = spend_alerts.c
    query = (
        select(table.scope, table.percent, func.count())
        .where(table.day == now.astimezone(UTC).date().isoformat())
        .group_by(table.scope, table.percent)
    )
    return {(row[0], str(row[1])): row[2] for row in connection.execute(query)}


def _effects(state: EffectState) -> tuple[ColumnElement[bool], ...]:
    # Spelt as the index has it, so that it is used.
    return (effects.c.state != literal_column("'done'"), effects.c.state == state)


FRESH_S: Final = 5.0
_MICRO: Final = 1_000_000
_OUTCOME_LABEL: Final = 2
_DIRECTIONS: Final = ("in", "out", "cached")


class ServiceMetrics:
    """A collector for Prometheus's registry; asks the database at most each 5 s."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._runs, self._money = run_totals(), money_totals()
        self._deliveries = delivery_totals()
        self._lock = threading.Lock()
        self._shown: tuple[Family, ...] = ()
        self._read_at = float("-inf")

    def collect(self) -> Iterable[Family]:
        with self._lock:
            if self._clock.monotonic() - self._read_at >= FRESH_S:
                self._shown = self._read()
                self._read_at = self._clock.monotonic()
            return self._shown

    def _read(self) -> tuple[Family, ...]:
        try:
            with self._database.reading() as connection:
                now = self._database.now(connection)
                found = (
                    *self._times(connection, now),
                    *_run_families(self._runs.count(connection, now)),
                    *_money_families(self._money.count(connection, now)),
                    _family(catalogue.SPEND_ALERTS, _count_alerts(connection, now)),
                    _family(
                        catalogue.DELIVERIES,
                        _counts(self._deliveries.count(connection, now).ever),
                    ),
                )
        except SQLAlchemyError:
            return (_family(catalogue.DATABASE_UP, 0),)
        return (_family(catalogue.DATABASE_UP, 1), *found)

    def _times(self, connection: Connection, now: datetime) -> Iterator[Family]:
        # States without jobs are reported as well.
        none: dict[Labels, float] = {(str(state),): 0 for state in _ACTIVE}
        states = _count_by(connection, jobs.c.state, jobs.c.state.in_(_ACTIVE))
        yield _family(catalogue.JOBS, none | states)
        yield _family(catalogue.LOST_JOBS, _count(connection, is_lost(now)))
        since = oldest_job_waits_since(self._database)
        yield _family(catalogue.OLDEST_JOB, _age_s(since, now))
        missed = _count_by(connection, missed_deliveries.c.service)
        yield _family(catalogue.MISSED, missed)
        pending = _effects(EffectState.PENDING)
        oldest = select(func.min(_PLANNED_AT, type_=AwareTime)).where(*pending)
        planned_at = connection.scalars(oldest).one()
        yield _family(catalogue.PENDING_EFFECTS, _count(connection, *pending))
        yield _family(catalogue.OLDEST_EFFECT, _age_s(planned_at, now))
        abandoned = _count(connection, *_effects(EffectState.ABANDONED))
        yield _family(catalogue.ABANDONED_EFFECTS, abandoned)
        present = live_processes(self._database)
        labels = ((p.role, p.version, "no" if p.red else "yes") for p in present)
        yield _family(catalogue.PROCESSES, Counter[Labels](labels))


def _run_families(counted: PeriodTotals) -> Iterator[Family]:
    by_outcome = group_totals(counted.ever, _OUTCOME_LABEL)
    together = group_totals(counted.ever)
    yield _family(catalogue.RUNS, _counts(counted.ever))
    yield _histogram(catalogue.RUN_SECONDS, by_outcome, DURATION_COLUMNS)
    yield _histogram(catalogue.WAIT_SECONDS, together, WAIT_COLUMNS)
    yield _family(catalogue.TOKENS, _tokens(together))
    yield _family(catalogue.TOKENS_TODAY, _tokens(group_totals(counted.today)))


def _money_families(counted: PeriodTotals) -> Iterator[Family]:
    spent, _ = counted.ever[()]
    spent_today, reserved_today = counted.today[()]
    yield _family(catalogue.SPENT, spent / _MICRO)
    yield _family(catalogue.SPENT_TODAY, spent_today / _MICRO)
    yield _family(catalogue.RESERVED_TODAY, reserved_today / _MICRO)


def _tokens(totals: LabelTotals) -> dict[Labels, float]:
    numbers = totals[()][TOKEN_COLUMNS] if totals else (0.0, 0.0, 0.0)
    names = ((direction,) for direction in _DIRECTIONS)
    return dict(zip(names, numbers, strict=True))


def _counts(totals: LabelTotals) -> dict[Labels, float]:
    return {labels: numbers[COUNT_COLUMN] for labels, numbers in totals.items()}


def _age_s(since: datetime | None, now: datetime) -> float:
    """Return how long ago that was; a moment that another clock has seen may come."""
    return max(0.0, (now - since).total_seconds()) if since else 0.0
