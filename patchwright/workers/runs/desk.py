"""What an operator works with: the service's database, and the logs of this machine."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Final, cast

from sqlalchemy.exc import DBAPIError

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.errors import PatchwrightError
from patchwright.core.events.doorbell import Doorbell
from patchwright.core.settings.model import Settings
from patchwright.core.settings.secret_values import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.runs.archive import Archive
from patchwright.workers.runs.listed import Listed, Wanted, of_job
from patchwright.workers.runs.naming import choose
from patchwright.workers.runs.rows import begins_with, newest
from patchwright.workers.runs.steering import Helm, operator
from patchwright.workers.store.doorbells import open_doorbell
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.job import Job
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.web.pages.runs import RunReader

_QUEUE: Final = "patchwright.workers.queue.app"
_MOST_NEAR: Final = 200


class DatabaseError(PatchwrightError):
    """The database does not answer, or its tables are those of another version."""

    reason = "database-unavailable"


@dataclass(frozen=True)
class Service:
    """The runs that the database has."""

    settings: Settings
    database: Database
    reader: RunReader
    events: EventStore
    clock: Clock

    def listed(self, wanted: Wanted) -> Iterator[Listed]:
        for run_id in newest(self.database, wanted):
            job = self.reader.jobs.load(run_id)
            if job is not None:
                yield self.listed_one(job)

    def listed_one(self, job: Job) -> Listed:
        return of_job(job, self.reader.known(job, self.reader.span(job)))

    def helm(self) -> Helm:
        ids, name = RandomIds(), operator()
        return Helm(self.database, self.events, ids, self.clock, name)

    def submit(self, job_id: JobId) -> bool:
        """Hand a job to the workers; False where they have to find it themselves."""
        broker_url = self.settings.queue.broker_url.get_secret_value()
        if broker_url.startswith("memory:"):
            return False
        queue = import_module(_QUEUE)
        submitter = cast("Callable[[object], Callable[[JobId], None]]", queue.submitter)
        submitter(queue.make_celery(broker_url))(job_id)
        return True


@dataclass(frozen=True)
class Desk:
    """All runs that can be seen from here; `service` is None without a database."""

    service: Service | None
    archive: Archive
    redactor: Redactor

    def find(self, wanted: str) -> Job | str:
        """Return the service's run that is meant, or the id of a local one."""
        local = self.archive.ids()
        fitting = [one for one in local if one.startswith(wanted)]
        others = list(local)
        if self.service is not None:
            database = self.service.database
            fitting += begins_with(database, wanted)
            others += islice(newest(database, Wanted()), _MOST_NEAR)
        run_id = choose(wanted, fitting, others)
        job = None
        if self.service is not None:
            job = self.service.reader.jobs.load(JobId(run_id))
        return job or run_id


@contextmanager
def open_desk(settings: Settings, *, hears: bool = False) -> Iterator[Desk]:
    """Open what there is; with `hears` other processes are heard, and hear us.

    Raises `DatabaseError`, also for what fails in it later.
    """
    redactor = Redactor(secret_values(settings))
    archive = Archive(settings.state_dir / "runs")
    database = Database(settings.database.url.get_secret_value())
    with closing(database):
        if _is_missing(database):
            yield Desk(None, archive, redactor)
            return
        try:
            with _doorbell(database, hears=hears) as doorbell:
                service = _service(settings, database, redactor, doorbell)
                yield Desk(service, archive, redactor)
        except DBAPIError as error:
            raise DatabaseError(
                f"the database does not do what is asked of it: {error.orig}. Is it "
                "there, and of this version? `patchwright db upgrade` brings it there"
            ) from error


@contextmanager
def _doorbell(database: Database, *, hears: bool) -> Iterator[Doorbell]:
    if not hears:
        yield Doorbell()
        return
    with open_doorbell(database) as doorbell:
        yield doorbell


def _is_missing(database: Database) -> bool:
    """Tell whether there is no file yet, which to connect would make."""
    name = database.engine.url.database or ""
    return database.is_sqlite and not Path(name).exists()


def _service(
    settings: Settings, database: Database, redactor: Redactor, doorbell: Doorbell
) -> Service:
    clock = SystemClock()
    events = EventStore(database, redactor.redact_json, clock, doorbell)
    reader = RunReader(
        jobs=JobStore(database),
        events=events,
        outcomes=OutcomeStore(database, RandomIds()),
        effects=EffectStore(database),
    )
    return Service(settings, database, reader, events, clock)
