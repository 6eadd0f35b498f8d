"""The runs that the service's database has."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Final, cast

from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.runs.listed import Listed, Wanted, of_job
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.rows import newest
from patchwright.workers.runs.steering import Helm, operator
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.job import Job

_QUEUE: Final = "patchwright.workers.queue.app"


@dataclass(frozen=True)
class Service:
    settings: Settings
    database: Database
    reader: RunReader
    events: EventStore
    clock: Clock

    def list_rows(self, wanted: Wanted) -> Iterator[Listed]:
        for run_id in newest(self.database, wanted):
            job = self.reader.jobs.load(run_id)
            if job is not None:
                yield self.listed_one(job)

    def listed_one(self, job: Job) -> Listed:
        return of_job(job, self.reader.summarize(job, self.reader.span(job)))

    def helm(self) -> Helm:
        ids, name = RandomIds(), operator()
        return Helm(self.database, self.events, ids, self.clock, name)

    def submit(self, job_id: JobId) -> None:
        """Hand a job to the workers; where the broker is in memory, they find it.

        Raises `BrokerUnavailableError`.
        """
        if self.settings.queue.is_in_memory:
            return
        queue = import_module(_QUEUE)
        submitter = cast("Callable[[object], Callable[[JobId], None]]", queue.submitter)
        broker_url = self.settings.queue.broker_url.get_secret_value()
        submitter(queue.make_celery(broker_url))(job_id)
