"""What the processes of each role are judged by."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.clock import Clock
from patchwright.workers.db.database import Database
from patchwright.workers.ops.checks import AnswerCheck, LoopCheck, WorkersCheck, StuckCheck, BeatCheck
from patchwright.workers.ops.health import Health
from patchwright.workers.ops.presence import live_processes
from patchwright.workers.ops.pulse import LoopActivity

# A sweep may be late, and one may be lost.
_MISSED_SWEEPS: Final = 3
_DATABASE_AWAY: Final = "the database does not answer"
_BROKER_AWAY: Final = "the broker does not answer"
_NOT_TAKEN: Final = "takes no messages from the broker; is a beat running?"
_NOT_SENT: Final = "no sweep has reached the broker"
_NOT_STORED: Final = "deliveries cannot be stored"


@dataclass(frozen=True)
class HealthChecks:
    """Where the parts of every role are, and how often there is a sweep."""

    database: Database
    clock: Clock
    sweep_s: float

    def web(self, takes_in: Callable[[], bool]) -> Health:
        intake = AnswerCheck("intake", takes_in, _NOT_STORED)
        return Health(
            live=(intake,),
            ready=(self._database_check(), intake, WorkersCheck(self.database)),
        )

    def worker(
        self,
        taken: LoopActivity,
        broker_answers: Callable[[], bool],
        is_busy: Callable[[], bool],
    ) -> Health:
        """Judge a worker by the sweeps that it takes, or by having its hands full."""
        broker = AnswerCheck("broker", broker_answers, _BROKER_AWAY)
        moving = self._sweep_check(taken, is_busy)
        return Health(
            live=(StuckCheck(moving, (broker, BeatCheck(self.database))),),
            ready=(self._database_check(), broker, moving),
        )

    def all(
        self,
        takes_in: Callable[[], bool],
        taken: LoopActivity,
        broker_answers: Callable[[], bool],
        is_busy: Callable[[], bool],
    ) -> Health:
        """Judge web and worker in one, which sends the sweeps itself."""
        web, moving = self.web(takes_in), self._sweep_check(taken, is_busy)
        broker = AnswerCheck("broker", broker_answers, _BROKER_AWAY)
        return Health(
            live=(*web.live, StuckCheck(moving, (broker, self._database_check()))),
            ready=(*web.ready, moving),
        )

    def beat(self, sent: LoopActivity, broker_answers: Callable[[], bool]) -> Health:
        broker = AnswerCheck("broker", broker_answers, _BROKER_AWAY)
        ticks = LoopCheck("ticks", sent, lambda: _MISSED_SWEEPS * self.sweep_s, _NOT_SENT)
        return Health(live=(StuckCheck(ticks, (broker,)),), ready=(broker, ticks))

    def _database_check(self) -> AnswerCheck:
        return AnswerCheck("database", self.database.answers, _DATABASE_AWAY)

    def _sweep_check(self, taken: LoopActivity, is_busy: Callable[[], bool]) -> LoopCheck:
        return LoopCheck("sweeps", taken, self._taken_within_s, _NOT_TAKEN, is_busy)

    def _taken_within_s(self) -> float:
        """Return how long it may take until a sweep comes to one of the workers."""
        try:
            workers = sum(one.works for one in live_processes(self.database))
        except SQLAlchemyError:
            workers = 1
        return _MISSED_SWEEPS * self.sweep_s * max(1, workers)
