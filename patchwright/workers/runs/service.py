"""The runs that the service's database has."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Final, cast

from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.runs.listed import RunRow, RunFilter, row_of_job
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.rows import list_newest_ids
from patchwright.workers.runs.steering import RunAdministration, operator_name
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.job import Job

_QUEUE: Final = "patchwright.workers.queue.app"


@dataclass(frozen=True)
class ServiceRuns:
    settings: Settings
    database: Database
    reader: RunReader
    events: EventStore
    clock: Clock

    def list_rows(self, wanted: RunFilter) -> Iterator[RunRow]:
        for run_id in list_newest_ids(self.database, wanted):
            job = self.reader.jobs.load(run_id)
            if job is not None:
                yield self.row_of(job)

    def row_of(self, job: Job) -> RunRow:
        return row_of_job(job, self.reader.summarize(job, self.reader.span(job)))

    def administration(self) -> RunAdministration:
        ids, name = RandomIds(), operator_name()
        return RunAdministration(self.database, self.events, ids, self.clock, name)

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
