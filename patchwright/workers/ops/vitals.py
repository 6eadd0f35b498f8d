"""What the processes of each role are judged by."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.clock import Clock
from patchwright.workers.db.database import Database
from patchwright.workers.ops.checks import Answering, Moving, Staffed, Stuck, Ticking
from patchwright.workers.ops.health import Health
from patchwright.workers.ops.presence import alive
from patchwright.workers.ops.pulse import Pulse

# A sweep may be late, and one may be lost.
_SWEEPS: Final = 3
_DATABASE_AWAY: Final = "the database does not answer"
_BROKER_AWAY: Final = "the broker does not answer"
_NOT_TAKEN: Final = "takes no messages from the broker; is a beat running?"
_NOT_SENT: Final = "no sweep has reached the broker"
_NOT_STORED: Final = "deliveries cannot be stored"


@dataclass(frozen=True)
class Vitals:
    """Where the parts of every role are, and how often there is a sweep."""

    database: Database
    clock: Clock
    sweep_s: float

    def web(self, takes_in: Callable[[], bool]) -> Health:
        intake = Answering("intake", takes_in, _NOT_STORED)
        return Health(
            live=(intake,),
            ready=(self._database_check(), intake, Staffed(self.database)),
        )

    def worker(
        self,
        taken: Pulse,
        broker_answers: Callable[[], bool],
        is_busy: Callable[[], bool],
    ) -> Health:
        """Judge a worker by the sweeps that it takes, or by having its hands full."""
        broker = Answering("broker", broker_answers, _BROKER_AWAY)
        moving = self._sweep_check(taken, is_busy)
        return Health(
            live=(Stuck(moving, (broker, Ticking(self.database))),),
            ready=(self._database_check(), broker, moving),
        )

    def all(
        self,
        takes_in: Callable[[], bool],
        taken: Pulse,
        broker_answers: Callable[[], bool],
        is_busy: Callable[[], bool],
    ) -> Health:
        """Judge web and worker in one, which sends the sweeps itself."""
        web, moving = self.web(takes_in), self._sweep_check(taken, is_busy)
        broker = Answering("broker", broker_answers, _BROKER_AWAY)
        return Health(
            live=(*web.live, Stuck(moving, (broker, self._database_check()))),
            ready=(*web.ready, moving),
        )

    def beat(self, sent: Pulse, broker_answers: Callable[[], bool]) -> Health:
        broker = Answering("broker", broker_answers, _BROKER_AWAY)
        ticks = Moving("ticks", sent, lambda: _SWEEPS * self.sweep_s, _NOT_SENT)
        return Health(live=(Stuck(ticks, (broker,)),), ready=(broker, ticks))

    def _database_check(self) -> Answering:
        return Answering("database", self.database.answers, _DATABASE_AWAY)

    def _sweep_check(self, taken: Pulse, is_busy: Callable[[], bool]) -> Moving:
        return Moving("sweeps", taken, self._taken_within_s, _NOT_TAKEN, is_busy)

    def _taken_within_s(self) -> float:
        """Return how long it may take until a sweep comes to one of the workers."""
        try:
            workers = sum(one.works for one in alive(self.database))
        except SQLAlchemyError:
            workers = 1
        return _SWEEPS * self.sweep_s * max(1, workers)
