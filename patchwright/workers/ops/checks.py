"""The checks of health: what answers, what moves, and whether anybody works."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from patchwright.workers.db.database import Database
from patchwright.workers.ops.health import HealthCheck, HealthPart
from patchwright.workers.ops.presence import live_processes
from patchwright.workers.ops.pulse import LoopActivity
from patchwright.workers.ops.waiting import oldest_job_waits_since

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
    """Tells a loop that stands still from one that only has nothing to do.

    It has nothing to do where one of `needed` fails: that is not mended by a new start.
    """

    moving: LoopCheck
    needed: tuple[HealthCheck, ...]

    def __call__(self, now: datetime) -> HealthPart:
        part = self.moving(now)
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
            # Nobody knows; that the database is away is told by a part of its own.
            return HealthPart(self.name)
        return HealthPart(self.name, since, "jobs wait, and no worker takes them")


@dataclass(frozen=True)
class BeatCheck:
    """Fails while no process that sends the sweeps is alive and well."""

    database: Database
    name: str = "beat"

    def __call__(self, now: datetime) -> HealthPart:
        try:
            roles = {one.role for one in live_processes(self.database) if not one.red}
        except SQLAlchemyError:
            return HealthPart(self.name, now, "the database does not answer")
        if "beat" in roles:
            return HealthPart(self.name)
        return HealthPart(self.name, now, "no beat is alive")
