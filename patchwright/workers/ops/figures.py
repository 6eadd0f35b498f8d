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
from patchwright.workers.ops.presence import alive
from patchwright.workers.ops.tallies import (
    COUNT,
    TOKENS,
    TOOK,
    WAITED,
    tally_deliveries,
    tally_money,
    tally_runs,
)
from patchwright.workers.ops.tally import Counted, Totals, by
from patchwright.workers.ops.waiting import waiting_since

FRESH_S: Final = 5.0
_MICRO: Final = 1_000_000
_OUTCOME: Final = 2
_DIRECTIONS: Final = ("in", "out", "cached")


class SharedFigures:
    """A collector for Prometheus's registry; asks the database at most each 5 s."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._runs, self._money = tally_runs(), tally_money()
        self._deliveries = tally_deliveries()
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
        since = waiting_since(self._database)
        yield gauge(catalogue.OLDEST_JOB, {(): _age_s(since, now)})
        missed = moments.missed_by_service(connection)
        yield gauge(catalogue.MISSED, {(name,): n for name, n in missed.items()})
        pending, planned_at = moments.pending_effects(connection)
        yield gauge(catalogue.PENDING_EFFECTS, {(): pending})
        yield gauge(catalogue.OLDEST_EFFECT, {(): _age_s(planned_at, now)})
        abandoned = moments.abandoned_effects(connection)
        yield counter(catalogue.ABANDONED_EFFECTS, {(): abandoned})
        present = moments.processes(alive(self._database))
        yield gauge(catalogue.PROCESSES, present)

    def _sums(self, connection: Connection, now: datetime) -> Iterator[Family]:
        yield from _runs(self._runs.count(connection, now))
        yield from _money(self._money.count(connection, now))
        came = self._deliveries.count(connection, now).ever
        yield counter(catalogue.DELIVERIES, _first(came))


def _runs(counted: Counted) -> Iterator[Family]:
    by_outcome, together = by(counted.ever, _OUTCOME), by(counted.ever)
    yield counter(catalogue.RUNS, _first(counted.ever))
    yield histogram(catalogue.RUN_SECONDS, _part(by_outcome, TOOK), _first(by_outcome))
    yield histogram(catalogue.WAIT_SECONDS, _part(together, WAITED), _first(together))
    yield counter(catalogue.TOKENS, _tokens(together))
    yield gauge(catalogue.TOKENS_TODAY, _tokens(by(counted.today)))


def _money(counted: Counted) -> Iterator[Family]:
    spent, _ = counted.ever[()]
    spent_today, reserved_today = counted.today[()]
    yield counter(catalogue.SPENT, {(): spent / _MICRO})
    yield gauge(catalogue.SPENT_TODAY, {(): spent_today / _MICRO})
    yield gauge(catalogue.RESERVED_TODAY, {(): reserved_today / _MICRO})


def _tokens(totals: Totals) -> dict[tuple[str, ...], float]:
    numbers = totals[()][TOKENS] if totals else (0.0, 0.0, 0.0)
    names = ((direction,) for direction in _DIRECTIONS)
    return dict(zip(names, numbers, strict=True))


def _first(totals: Totals) -> dict[tuple[str, ...], float]:
    return {labels: numbers[COUNT] for labels, numbers in totals.items()}


def _part(totals: Totals, part: slice) -> Totals:
    return {labels: numbers[part] for labels, numbers in totals.items()}


def _age_s(since: datetime | None, now: datetime) -> float:
    """Return how long ago that was; a moment that another clock has seen may come."""
    return max(0.0, (now - since).total_seconds()) if since else 0.0
