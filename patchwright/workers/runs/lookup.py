"""Find a run by its id, in the service's database and in the logs of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchwright.core.events.log import Notifier
from patchwright.core.replay.trajectory import RunFacts, StoredRun, read_run
from patchwright.core.settings.model import Settings, secret_values
from patchwright.core.system.clock import SystemClock
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.types.errors import PatchwrightError
from patchwright.resolver.job import Job
from patchwright.workers.db.database import Database, database_errors, open_existing
from patchwright.workers.runs.administration import (
    ServiceRuns,
    list_ids_beginning_with,
    list_newest_ids,
)
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import RunRow, row_of_log
from patchwright.workers.runs.selection import choose_run_id
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.notifier import open_notifier
from patchwright.workers.store.outcomes import OutcomeStore

_SUFFIX = ".jsonl"


@dataclass(frozen=True)
class LocalRuns:
    """A folder of logs, which are named after their runs."""

    folder: Path

    def ids(self) -> tuple[str, ...]:
        """Return the ids, those first whose log was written to last."""
        written = {one: one.stat().st_mtime for one in self.folder.glob(f"*{_SUFFIX}")}
        newest = sorted(written, key=lambda one: written[one], reverse=True)
        return tuple(one.name.removesuffix(_SUFFIX) for one in newest)

    def read(self, run_id: str) -> StoredRun:
        return read_run(self.folder / f"{run_id}{_SUFFIX}")

    def owner_of(self, run_id: str) -> str:
        """Return the name of the user who has started the run, if they have one."""
        try:
            return (self.folder / f"{run_id}{_SUFFIX}").owner()
        except (KeyError, OSError):
            return ""

    def row_of(self, run_id: str, facts: RunFacts) -> RunRow:
        return row_of_log(run_id, facts, self.owner_of(run_id))

    def list_rows(self) -> Iterator[RunRow]:
        """Yield what the logs say; one that says nothing yet is left out."""
        for run_id in self.ids():
            try:
                facts = self.read(run_id).trajectory.run
            except PatchwrightError:
                continue
            yield self.row_of(run_id, facts)


_MOST_NEAR: Final = 200


@dataclass(frozen=True)
class ServiceRun:
    """A run that the database has."""

    service: ServiceRuns
    job: Job

    @property
    def id(self) -> str:
        return self.job.id


@dataclass(frozen=True)
class LocalRun:
    """A run of the command line, in a log on this machine."""

    archive: LocalRuns
    id: str


@dataclass(frozen=True)
class RunLookup:
    """All runs that can be seen from here; `service` is None without a database."""

    service: ServiceRuns | None
    archive: LocalRuns
    redactor: Redactor

    def find(self, wanted: str) -> ServiceRun | LocalRun:
        """Return the run whose id begins so. Raises `UnknownRunError`."""
        local = self.archive.ids()
        fitting = [one for one in local if one.startswith(wanted)]
        if self.service is None:
            return LocalRun(self.archive, choose_run_id(wanted, fitting, local))
        fitting += list_ids_beginning_with(self.service.database, wanted)
        lately = list_newest_ids(self.service.database, _MOST_NEAR)
        run_id = choose_run_id(wanted, fitting, (*local, *lately))
        job = self.service.reader.jobs.load(JobId(run_id))
        return ServiceRun(self.service, job) if job else LocalRun(self.archive, run_id)


@contextmanager
def open_run_lookup(
    settings: Settings, *, listens: bool = False
) -> Iterator[RunLookup]:
    """Open the stores; with `listens` processes notify each other.

    Raises `DatabaseUnavailableError`, also for what fails in it later.
    """
    redactor = Redactor(secret_values(settings))
    archive = LocalRuns(settings.state_dir / "runs")
    with open_existing(settings.database.url.get_secret_value()) as database:
        if database is None:
            yield RunLookup(None, archive, redactor)
            return
        with database_errors(), _notifier(database, listens=listens) as notifier:
            service = _service(settings, database, redactor, notifier)
            yield RunLookup(service, archive, redactor)


@contextmanager
def _notifier(database: Database, *, listens: bool) -> Iterator[Notifier]:
    if not listens:
        yield Notifier()
        return
    with open_notifier(database) as notifier:
        yield notifier


def _service(
    settings: Settings, database: Database, redactor: Redactor, notifier: Notifier
) -> ServiceRuns:
    clock = SystemClock()
    events = EventStore(database, redactor.redact_json, clock, notifier)
    reader = RunReader(
        jobs=JobStore(database),
        events=events,
        outcomes=OutcomeStore(database, RandomIds()),
        effects=EffectStore(database),
    )
    return ServiceRuns(settings, database, reader, events, clock)
