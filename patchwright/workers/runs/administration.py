"""List, stop and retry the runs of the service, in the name of its operator."""

import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final, cast

from sqlalchemy import select

from patchwright.core.events.actions import ChangeState
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids, JobId, RandomIds
from patchwright.core.types.errors import WrongMomentError
from patchwright.resolver.job import Job, JobState
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import jobs
from patchwright.workers.runs.listing import RunListing
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import RunRow, row_of_job
from patchwright.workers.runs.selection import SHORT_ID_LENGTH
from patchwright.workers.store.events import EventStore, append_row
from patchwright.workers.store.jobs import find_active_job, wake_job
from patchwright.workers.store.leases import lock_conversation
from patchwright.workers.store.requests import insert_job

IDS_PER_PAGE: Final = 100


def list_ids_beginning_with(database: Database, prefix: str) -> tuple[str, ...]:
    """Return ids that begin so, not all of them where they are many."""
    query = select(jobs.c.id).where(jobs.c.id.startswith(prefix, autoescape=True))
    with database.reading() as connection:
        return tuple(connection.scalars(query.limit(IDS_PER_PAGE)))


def list_newest_ids(database: Database, limit: int) -> tuple[str, ...]:
    newest = select(jobs.c.id).order_by(jobs.c.created_at.desc())
    with database.reading() as connection:
        return tuple(connection.scalars(newest.limit(limit)))


class TooLateError(WrongMomentError):
    """The run is where it cannot be stopped any more."""

    reason = "too-late"


class BusyError(WrongMomentError):
    """The conversation has a run at work, and never two."""

    reason = "busy"


def operator_name() -> str:
    """Return the name of the user who runs this process, for the log."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may know its user by number alone
        name = f"with the user id {os.getuid()}"
    return f"the operator {name}, by command line"


@dataclass(frozen=True)
class RunAdministration:
    """Writes what an operator wants into the log of a run, in `name`.

    Nobody is asked whether they may: who can write to the database may do anything.
    """

    database: Database
    events: EventStore
    ids: Ids
    clock: Clock
    name: str

    def stop(self, job: Job) -> JobState:
        """Stop a run; return its state before.

        Its worker is notified at once. A run without a worker ends when it gets one.
        """
        with self.database.writing() as connection:
            lock_conversation(connection, job.conversation_id)
            active = find_active_job(connection, job.conversation_id)
            if active is None or active.id != job.id:
                raise TooLateError(
                    f"the run {job.id[:SHORT_ID_LENGTH]} has ended already"
                )
            if active.state is JobState.DELIVERING:
                raise TooLateError(
                    f"the run {job.id[:SHORT_ID_LENGTH]} has finished its work and "
                    "publishes it now"
                )
            change = ChangeState(state=AgentState.STOPPED, reason=self.name)
            event = self.events.new_event(Source.USER, change)
            append_row(connection, job.conversation_id, event)
            if active.state is JobState.WAITING_USER:
                wake_job(connection, job.id, self.clock.now())
        self.events.notifier.notify(job.conversation_id)
        return active.state

    def retry(self, job: Job) -> JobId:
        """Start a run for the same request, in the same threads; return its id."""
        new_id = JobId(self.ids.new())
        now = self.clock.now()
        key = f"{job.trigger.key}:retry:{new_id}"
        trigger = job.trigger.replace(key=key)
        with self.database.writing() as connection:
            lock_conversation(connection, job.conversation_id)
            active = find_active_job(connection, job.conversation_id)
            if active is not None:
                raise BusyError(
                    f"the run {active.id[:SHORT_ID_LENGTH]} of the same conversation "
                    f"has not ended: it is {active.state}. Stop it first with "
                    f"`patchwright runs stop {active.id[:SHORT_ID_LENGTH]}`"
                )
            reason = f"{self.name}, to retry the run {job.id[:SHORT_ID_LENGTH]},"
            change = ChangeState(state=AgentState.RUNNING, reason=reason)
            event = self.events.new_event(Source.USER, change)
            append_row(connection, job.conversation_id, event)
            insert_job(connection, new_id, job.conversation_id, trigger, now)
            # It has not been handed to the queue: the next sweep does that in any case.
            wake_job(connection, new_id, now)
        self.events.notifier.notify(job.conversation_id)
        return new_id


_QUEUE: Final = "patchwright.workers.queue.app"


@dataclass(frozen=True)
class ServiceRuns:
    settings: Settings
    database: Database
    reader: RunReader
    events: EventStore
    clock: Clock

    @property
    def listing(self) -> RunListing:
        return RunListing(self.database, self.reader)

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
