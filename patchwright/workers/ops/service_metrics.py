"""Metrics of the whole service, true over all its processes and restarts."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql.elements import ColumnElement, literal_column

from patchwright.core.clock import Clock
from patchwright.resolver.job import ENDED, JobState
from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import effects, jobs, missed_deliveries
from patchwright.workers.ops import catalogue
from patchwright.workers.ops.catalogue import Metric
from patchwright.workers.ops.health import is_lost, oldest_job_waits_since
from patchwright.workers.ops.heartbeat import ProcessStatus, live_processes
from patchwright.workers.ops.totals import (
    COUNT_COLUMN,
    DURATION_COLUMNS,
    TOKEN_COLUMNS,
    WAIT_COLUMNS,
    Labels,
    LabelTotals,
    Numbers,
    PeriodTotals,
    delivery_totals,
    group_totals,
    money_totals,
    run_totals,
)
from patchwright.workers.store.effects import EffectState

_ACTIVE: Final = tuple(state for state in JobState if state not in ENDED)


def active_jobs(connection: Connection) -> dict[str, int]:
    """Count the jobs that have not ended by their state, also where there are none."""
    query = (
        select(jobs.c.state, func.count())
        .where(jobs.c.state.in_(_ACTIVE))
        .group_by(jobs.c.state)
    )
    found = {row[0]: row[1] for row in connection.execute(query)}
    return {state: found.get(state, 0) for state in _ACTIVE}


def lost_jobs(connection: Connection, now: datetime) -> int:
    return connection.scalars(select(func.count()).where(is_lost(now))).one()


def missed_by_service(connection: Connection) -> dict[str, int]:
    service = missed_deliveries.c.service
    rows = connection.execute(select(service, func.count()).group_by(service))
    return {row[0]: row[1] for row in rows}


def pending_effects(connection: Connection) -> tuple[int, datetime | None]:
    """Return how many there are, and when the oldest was planned."""
    planned_at = func.coalesce(effects.c.planned_at, effects.c.due_at, type_=AwareTime)
    query = select(func.count(), func.min(planned_at, type_=AwareTime))
    row = connection.execute(query.where(*_unfinished(EffectState.PENDING))).one()
    return row[0], row[1]


def abandoned_effects(connection: Connection) -> int:
    query = select(func.count()).where(*_unfinished(EffectState.ABANDONED))
    return connection.scalars(query).one()


def processes(present: tuple[ProcessStatus, ...]) -> dict[tuple[str, ...], int]:
    """Count processes by role, version, and whether all of it works."""
    labels = ((one.role, one.version, "no" if one.red else "yes") for one in present)
    return dict(Counter[tuple[str, ...]](labels))


def _unfinished(state: EffectState) -> tuple[ColumnElement[bool], ...]:
    # Spelt as the index has it, so that it is used.
    return (effects.c.state != literal_column("'done'"), effects.c.state == state)


Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


def gauge(metric: Metric, values: Mapping[Labels, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(metric.name, metric.about, labels=metric.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def counter(metric: Metric, values: Mapping[Labels, float]) -> CounterMetricFamily:
    family = CounterMetricFamily(metric.name, metric.about, labels=metric.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def histogram(
    metric: Metric, totals: LabelTotals, counts: Mapping[Labels, float]
) -> HistogramMetricFamily:
    """Write a histogram of totals: the seconds, then how many up to each bucket."""
    family = HistogramMetricFamily(metric.name, metric.about, labels=metric.labels)
    for labels, numbers in totals.items():
        buckets = _buckets(metric, numbers[1:], counts[labels])
        family.add_metric(labels, buckets, sum_value=numbers[0])
    return family


def _buckets(metric: Metric, up_to: Numbers, count: float) -> list[tuple[str, float]]:
    bounds = [str(float(bound)) for bound in metric.buckets]
    return [*zip(bounds, up_to, strict=True), ("+Inf", count)]


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
                found = (*self._moments(connection, now), *self._sums(connection, now))
        except SQLAlchemyError:
            return (gauge(catalogue.DATABASE_UP, {(): 0}),)
        return (gauge(catalogue.DATABASE_UP, {(): 1}), *found)

    def _moments(self, connection: Connection, now: datetime) -> Iterator[Family]:
        states = active_jobs(connection)
        yield gauge(catalogue.JOBS, {(state,): n for state, n in states.items()})
        yield gauge(catalogue.LOST_JOBS, {(): lost_jobs(connection, now)})
        since = oldest_job_waits_since(self._database)
        yield gauge(catalogue.OLDEST_JOB, {(): _age_s(since, now)})
        missed = missed_by_service(connection)
        yield gauge(catalogue.MISSED, {(name,): n for name, n in missed.items()})
        pending, planned_at = pending_effects(connection)
        yield gauge(catalogue.PENDING_EFFECTS, {(): pending})
        yield gauge(catalogue.OLDEST_EFFECT, {(): _age_s(planned_at, now)})
        abandoned = abandoned_effects(connection)
        yield counter(catalogue.ABANDONED_EFFECTS, {(): abandoned})
        present = processes(live_processes(self._database))
        yield gauge(catalogue.PROCESSES, present)

    def _sums(self, connection: Connection, now: datetime) -> Iterator[Family]:
        yield from _run_families(self._runs.count(connection, now))
        yield from _money_families(self._money.count(connection, now))
        came = self._deliveries.count(connection, now).ever
        yield counter(catalogue.DELIVERIES, _counts(came))


def _run_families(counted: PeriodTotals) -> Iterator[Family]:
    by_outcome, together = (
        group_totals(counted.ever, _OUTCOME_LABEL),
        group_totals(counted.ever),
    )
    yield counter(catalogue.RUNS, _counts(counted.ever))
    yield histogram(
        catalogue.RUN_SECONDS,
        _columns(by_outcome, DURATION_COLUMNS),
        _counts(by_outcome),
    )
    yield histogram(
        catalogue.WAIT_SECONDS, _columns(together, WAIT_COLUMNS), _counts(together)
    )
    yield counter(catalogue.TOKENS, _tokens(together))
    yield gauge(catalogue.TOKENS_TODAY, _tokens(group_totals(counted.today)))


def _money_families(counted: PeriodTotals) -> Iterator[Family]:
    spent, _ = counted.ever[()]
    spent_today, reserved_today = counted.today[()]
    yield counter(catalogue.SPENT, {(): spent / _MICRO})
    yield gauge(catalogue.SPENT_TODAY, {(): spent_today / _MICRO})
    yield gauge(catalogue.RESERVED_TODAY, {(): reserved_today / _MICRO})


def _tokens(totals: LabelTotals) -> dict[tuple[str, ...], float]:
    numbers = totals[()][TOKEN_COLUMNS] if totals else (0.0, 0.0, 0.0)
    names = ((direction,) for direction in _DIRECTIONS)
    return dict(zip(names, numbers, strict=True))


def _counts(totals: LabelTotals) -> dict[tuple[str, ...], float]:
    return {labels: numbers[COUNT_COLUMN] for labels, numbers in totals.items()}


def _columns(totals: LabelTotals, part: slice) -> LabelTotals:
    return {labels: numbers[part] for labels, numbers in totals.items()}


def _age_s(since: datetime | None, now: datetime) -> float:
    """Return how long ago that was; a moment that another clock has seen may come."""
    return max(0.0, (now - since).total_seconds()) if since else 0.0
