"""The figures of the whole service, true over all its processes and restarts."""

import threading
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.clock import Clock
from patchwright.workers.db.database import Database
from patchwright.workers.ops import catalogue, moments
from patchwright.workers.ops.families import Family, counter, gauge, histogram
from patchwright.workers.ops.presence import live_processes
from patchwright.workers.ops.tallies import (
    COUNT_COLUMN,
    TOKEN_COLUMNS,
    DURATION_COLUMNS,
    WAIT_COLUMNS,
    delivery_totals,
    money_totals,
    run_totals,
)
from patchwright.workers.ops.tally import PeriodTotals, LabelTotals, group_totals
from patchwright.workers.ops.waiting import oldest_job_waits_since

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
        states = moments.active_jobs(connection)
        yield gauge(catalogue.JOBS, {(state,): n for state, n in states.items()})
        yield gauge(catalogue.LOST_JOBS, {(): moments.lost_jobs(connection, now)})
        since = oldest_job_waits_since(self._database)
        yield gauge(catalogue.OLDEST_JOB, {(): _age_s(since, now)})
        missed = moments.missed_by_service(connection)
        yield gauge(catalogue.MISSED, {(name,): n for name, n in missed.items()})
        pending, planned_at = moments.pending_effects(connection)
        yield gauge(catalogue.PENDING_EFFECTS, {(): pending})
        yield gauge(catalogue.OLDEST_EFFECT, {(): _age_s(planned_at, now)})
        abandoned = moments.abandoned_effects(connection)
        yield counter(catalogue.ABANDONED_EFFECTS, {(): abandoned})
        present = moments.processes(live_processes(self._database))
        yield gauge(catalogue.PROCESSES, present)

    def _sums(self, connection: Connection, now: datetime) -> Iterator[Family]:
        yield from _run_families(self._runs.count(connection, now))
        yield from _money_families(self._money.count(connection, now))
        came = self._deliveries.count(connection, now).ever
        yield counter(catalogue.DELIVERIES, _counts(came))


def _run_families(counted: PeriodTotals) -> Iterator[Family]:
    by_outcome, together = group_totals(counted.ever, _OUTCOME_LABEL), group_totals(counted.ever)
    yield counter(catalogue.RUNS, _counts(counted.ever))
    yield histogram(catalogue.RUN_SECONDS, _columns(by_outcome, DURATION_COLUMNS), _counts(by_outcome))
    yield histogram(catalogue.WAIT_SECONDS, _columns(together, WAIT_COLUMNS), _counts(together))
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
