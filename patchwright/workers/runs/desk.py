"""What an operator works with: the service's database, and the logs of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final

from patchwright.core.clock import SystemClock
from patchwright.core.events.doorbell import Doorbell
from patchwright.core.settings.model import Settings
from patchwright.core.settings.secret_values import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.db.errors import in_words
from patchwright.workers.db.existing import existing
from patchwright.workers.runs.archive import Archive
from patchwright.workers.runs.listed import Wanted
from patchwright.workers.runs.naming import choose
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.rows import begins_with, newest
from patchwright.workers.runs.service import Service
from patchwright.workers.store.doorbells import open_doorbell
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.job import Job
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.outcomes import OutcomeStore

_MOST_NEAR: Final = 200


@dataclass(frozen=True)
class ServiceRun:
    """A run that the database has."""

    service: Service
    job: Job

    @property
    def id(self) -> str:
        return self.job.id


@dataclass(frozen=True)
class LocalRun:
    """A run of the command line, in a log on this machine."""

    archive: Archive
    id: str


@dataclass(frozen=True)
class Desk:
    """All runs that can be seen from here; `service` is None without a database."""

    service: Service | None
    archive: Archive
    redactor: Redactor

    def find(self, wanted: str) -> ServiceRun | LocalRun:
        """Return the run whose id begins so. Raises `UnknownRunError`."""
        local = self.archive.ids()
        fitting = [one for one in local if one.startswith(wanted)]
        if self.service is None:
            return LocalRun(self.archive, choose(wanted, fitting, local))
        fitting += begins_with(self.service.database, wanted)
        lately = islice(newest(self.service.database, Wanted()), _MOST_NEAR)
        run_id = choose(wanted, fitting, (*local, *lately))
        job = self.service.reader.jobs.load(JobId(run_id))
        return ServiceRun(self.service, job) if job else LocalRun(self.archive, run_id)


@contextmanager
def open_desk(settings: Settings, *, hears: bool = False) -> Iterator[Desk]:
    """Open what there is; with `hears` other processes are heard, and hear us.

    Raises `DatabaseUnavailableError`, also for what fails in it later.
    """
    redactor = Redactor(secret_values(settings))
    archive = Archive(settings.state_dir / "runs")
    with existing(settings.database.url.get_secret_value()) as database:
        if database is None:
            yield Desk(None, archive, redactor)
            return
        with in_words(), _doorbell(database, hears=hears) as doorbell:
            service = _service(settings, database, redactor, doorbell)
            yield Desk(service, archive, redactor)


@contextmanager
def _doorbell(database: Database, *, hears: bool) -> Iterator[Doorbell]:
    if not hears:
        yield Doorbell()
        return
    with open_doorbell(database) as doorbell:
        yield doorbell


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
