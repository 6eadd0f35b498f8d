"""Which processes live, whether each works, part by part, and the checks of a role."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, delete, func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.resolver.job import JobState
from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.database import Database, insert_or_replace
from patchwright.workers.db.tables import jobs, processes

# How long the row of a process is kept that ended without removing it.
_KEPT_FOR: Final = timedelta(hours=1)
WORKING_ROLES: Final = frozenset({"all", "worker"})


class ProcessStatus(Value):
    """A process, alive until `until`. `name` is its host and process id.

    `red` names the parts of it that do not work; where it is empty, all of them do.
    """

    id: str
    role: str
    name: str
    version: str
    started_at: datetime
    seen_at: datetime
    until: datetime
    red: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Tell whether it is one that runs jobs, and can."""
        return self.role in WORKING_ROLES and not self.red


def live_processes(database: Database) -> tuple[ProcessStatus, ...]:
    """Return the processes that are alive, by role and name."""
    query = select(processes).order_by(processes.c.role, processes.c.name)
    with database.reading() as connection:
        living = query.where(processes.c.until > database.now(connection))
        rows = connection.execute(living).mappings().all()
    return tuple(
        ProcessStatus.model_validate({**row, "red": tuple(row["red"].split())})
        for row in rows
    )


def record_heartbeat(database: Database, status: ProcessStatus) -> None:
    """Let the others know of a process, in place of what was known of it.

    It is seen now and alive for as long as it says, by the clock of the database.
    """
    life = status.until - status.seen_at
    with database.writing() as connection:
        now = database.now(connection)
        seen = {"seen_at": now, "until": now + life, "red": " ".join(status.red)}
        insert_or_replace(connection, processes, status.model_dump() | seen)


def remove_process(database: Database, status: ProcessStatus) -> None:
    """Take the process out that ends now, and those that ended long ago."""
    with database.writing() as connection:
        is_over = processes.c.until < database.now(connection) - _KEPT_FOR
        connection.execute(
            delete(processes).where((processes.c.id == status.id) | is_over)
        )


class LoopActivity:
    """Felt by those who watch a loop; touched from any thread whenever it moves.

    `began_at` is when it was first waited for, `moved_at` None until it has moved.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.began_at = clock.now()
        self.moved_at: datetime | None = None

    def touch(self) -> None:
        # One reference is replaced by another: no lock is needed for that.
        self.moved_at = self._clock.now()


@dataclass(frozen=True)
class HealthPart:
    """A part of a process; `since` is when it has stopped to work, None if it works."""

    name: str
    since: datetime | None = None
    why: str = ""


# Looks at one part, at that moment.
HealthCheck = Callable[[datetime], HealthPart]


@dataclass(frozen=True)
class Health:
    """The health checks of a process.

    A process that fails one of `live` should be restarted; one that fails one of
    `ready` cannot work now, and a restart may not help.
    """

    live: tuple[HealthCheck, ...]
    ready: tuple[HealthCheck, ...]


def run_health_checks(
    checks: tuple[HealthCheck, ...], now: datetime
) -> tuple[HealthPart, ...]:
    return tuple(check(now) for check in checks)


def failing_parts(parts: tuple[HealthPart, ...]) -> tuple[str, ...]:
    return tuple(part.name for part in parts if part.since is not None)


def parts_as_json(parts: tuple[HealthPart, ...]) -> dict[str, dict[str, object]]:
    """Return the parts as JSON, by name."""
    return {part.name: _part_as_json(part) for part in parts}


def _part_as_json(part: HealthPart) -> dict[str, object]:
    if part.since is None:
        return {"ok": True}
    moment = part.since.astimezone(UTC).isoformat(timespec="seconds")
    return {"ok": False, "since": moment.replace("+00:00", "Z"), "why": part.why}


_QUEUED_AT = func.coalesce(jobs.c.queued_at, jobs.c.created_at, type_=AwareTime)


def oldest_job_waits_since(database: Database) -> datetime | None:
    """Return since when the oldest job waits for a worker; None if none does.

    One whose worker is dead waits since its lease has run out.
    """
    queued = select(func.min(_QUEUED_AT, type_=AwareTime)).where(
        jobs.c.state == JobState.QUEUED
    )
    leases = select(func.min(jobs.c.lease_until, type_=AwareTime))
    with database.reading() as connection:
        lost = leases.where(is_lost(database.now(connection)))
        times = [connection.scalars(query).one() for query in (queued, lost)]
    return min((one for one in times if one is not None), default=None)


def is_lost(now: datetime) -> ColumnElement[bool]:
    """Select the jobs whose worker has shown no sign of life for too long."""
    held = or_(jobs.c.state == JobState.RUNNING, jobs.c.state == JobState.DELIVERING)
    return and_(held, jobs.c.lease_until < now)


# Until the first sign of life, what takes long is to import and to connect.
START_UP: Final = timedelta(seconds=30)


class AnswerCheck:
    """A part that is asked each time; remembers since when it does not answer."""

    def __init__(self, name: str, answers: Callable[[], bool], why: str) -> None:
        self._name, self._answers, self._why = name, answers, why
        self._since: datetime | None = None

    def __call__(self, now: datetime) -> HealthPart:
        if self._answers():
            self._since = None
            return HealthPart(self._name)
        self._since = self._since or now
        return HealthPart(self._name, self._since, self._why)


@dataclass(frozen=True)
class LoopCheck:
    """A loop that must move at least once in `within_s`; one that is busy does."""

    name: str
    activity: LoopActivity
    within_s: Callable[[], float]
    why: str
    is_busy: Callable[[], bool] = lambda: False

    def __call__(self, now: datetime) -> HealthPart:
        if self.is_busy():
            self.activity.touch()
        moved_at, began_at = self.activity.moved_at, self.activity.began_at
        within = timedelta(seconds=self.within_s())
        due_at = moved_at + within if moved_at else began_at + max(within, START_UP)
        if now <= due_at:
            return HealthPart(self.name)
        return HealthPart(self.name, moved_at or began_at, self.why)


@dataclass(frozen=True)
class StuckCheck:
    """Finds a loop that is stuck, not one that only has nothing to do.

    If one of `needed` fails, the loop has nothing to do: a restart does not help.
    """

    loop: LoopCheck
    needed: tuple[HealthCheck, ...]

    def __call__(self, now: datetime) -> HealthPart:
        part = self.loop(now)
        if part.since is None:
            return part
        if any(check(now).since is not None for check in self.needed):
            return HealthPart(part.name)
        return part


@dataclass(frozen=True)
class WorkersCheck:
    """Fails while jobs wait and no process that runs jobs is alive and well."""

    database: Database
    name: str = "workers"

    def __call__(self, _now: datetime) -> HealthPart:
        try:
            since = oldest_job_waits_since(self.database)
            if since is None or any(one.works for one in live_processes(self.database)):
                return HealthPart(self.name)
        except SQLAlchemyError:
            # Unknown; another part reports that the database does not answer.
            return HealthPart(self.name)
        return HealthPart(self.name, since, "jobs wait, and no worker takes them")


# A process of the version before says that it is a beat.
_SCHEDULERS: Final = frozenset({"scheduler", "beat"})


@dataclass(frozen=True)
class SchedulerCheck:
    """Fails while no process that sends the sweeps is alive and well."""

    database: Database
    name: str = "scheduler"

    def __call__(self, now: datetime) -> HealthPart:
        try:
            roles = {one.role for one in live_processes(self.database) if not one.red}
        except SQLAlchemyError:
            return HealthPart(self.name, now, "the database does not answer")
        if roles & _SCHEDULERS:
            return HealthPart(self.name)
        return HealthPart(self.name, now, "no scheduler is alive")


# A sweep may be late, and one may be lost.
_MISSED_SWEEPS: Final = 3
_DATABASE_AWAY: Final = "the database does not answer"
_BROKER_AWAY: Final = "the broker does not answer"
_NOT_TAKEN: Final = "takes no messages from the broker; check that a scheduler runs"
_NOT_SENT: Final = "no sweep has reached the broker"
_NOT_STORED: Final = "deliveries cannot be stored"


@dataclass(frozen=True)
class HealthChecks:
    """Where the parts of every role are, and how often there is a sweep."""

    database: Database
    clock: Clock
    sweep_s: float

    def web(self, takes_in: Callable[[], bool]) -> Health:
        inbox = AnswerCheck("intake", takes_in, _NOT_STORED)
        return Health(
            live=(inbox,),
            ready=(self._database_check(), inbox, WorkersCheck(self.database)),
        )

    def worker(
        self,
        taken: LoopActivity,
        broker_answers: Callable[[], bool],
        is_busy: Callable[[], bool],
    ) -> Health:
        """Judge a worker by the sweeps that it takes, or by its full slots."""
        broker = AnswerCheck("broker", broker_answers, _BROKER_AWAY)
        loop = self._sweep_check(taken, is_busy)
        return Health(
            live=(StuckCheck(loop, (broker, SchedulerCheck(self.database))),),
            ready=(self._database_check(), broker, loop),
        )

    def all(
        self,
        takes_in: Callable[[], bool],
        taken: LoopActivity,
        broker_answers: Callable[[], bool],
        is_busy: Callable[[], bool],
    ) -> Health:
        """Judge web and worker in one, which sends the sweeps itself."""
        web, loop = self.web(takes_in), self._sweep_check(taken, is_busy)
        broker = AnswerCheck("broker", broker_answers, _BROKER_AWAY)
        return Health(
            live=(*web.live, StuckCheck(loop, (broker, self._database_check()))),
            ready=(*web.ready, loop),
        )

    def scheduler(
        self, sent: LoopActivity, broker_answers: Callable[[], bool]
    ) -> Health:
        broker = AnswerCheck("broker", broker_answers, _BROKER_AWAY)
        ticks = LoopCheck(
            "ticks", sent, lambda: _MISSED_SWEEPS * self.sweep_s, _NOT_SENT
        )
        return Health(live=(StuckCheck(ticks, (broker,)),), ready=(broker, ticks))

    def _database_check(self) -> AnswerCheck:
        return AnswerCheck("database", self.database.answers, _DATABASE_AWAY)

    def _sweep_check(
        self, taken: LoopActivity, is_busy: Callable[[], bool]
    ) -> LoopCheck:
        return LoopCheck("sweeps", taken, self._taken_within_s, _NOT_TAKEN, is_busy)

    def _taken_within_s(self) -> float:
        """Return how long it may take until a sweep comes to one of the workers."""
        try:
            workers = sum(one.works for one in live_processes(self.database))
        except SQLAlchemyError:
            workers = 1
        return _MISSED_SWEEPS * self.sweep_s * max(1, workers)
