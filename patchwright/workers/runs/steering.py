"""Stop runs and start them again, in the name of who operates the service."""

import os
import pwd
from dataclasses import dataclass

from patchwright.core.clock import Clock
from patchwright.core.errors import PatchwrightError
from patchwright.core.events.types import AgentState, ChangeState, Source
from patchwright.core.types.ids import Ids, JobId
from patchwright.workers.db.database import Database
from patchwright.workers.runs.naming import SHORT_ID_LENGTH
from patchwright.workers.store.active import find_active_job, wake_job
from patchwright.workers.store.event_rows import append_row
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.fencing import lock_conversation
from patchwright.workers.store.job import Job, JobState
from patchwright.workers.store.requests import insert_job


class TooLateError(PatchwrightError):
    """The run is where it cannot be stopped any more."""

    reason = "too-late"


class BusyError(PatchwrightError):
    """The conversation has a run at work, and never two."""

    reason = "busy"


def operator_name() -> str:
    """Name who runs this process as the log is to have it, and how they spoke."""
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
        """Have a run end as stopped; return the state it was found in.

        Its worker hears it at once. One without a worker ends when it gets one.
        """
        with self.database.writing() as connection:
            lock_conversation(connection, job.conversation_id)
            active = find_active_job(connection, job.conversation_id)
            if active is None or active.id != job.id:
                raise TooLateError(f"the run {job.id[:SHORT_ID_LENGTH]} has ended already")
            if active.state is JobState.DELIVERING:
                raise TooLateError(
                    f"the run {job.id[:SHORT_ID_LENGTH]} has done its work and delivers it just "
                    "now"
                )
            said = ChangeState(state=AgentState.STOPPED, reason=self.name)
            event = self.events.new_event(Source.USER, said)
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
                    f"the run {active.id[:SHORT_ID_LENGTH]} of the same conversation has not "
                    f"ended: it is {active.state}. Stop it first with `patchwright "
                    f"runs stop {active.id[:SHORT_ID_LENGTH]}`"
                )
            reason = f"{self.name}, to retry the run {job.id[:SHORT_ID_LENGTH]},"
            said = ChangeState(state=AgentState.RUNNING, reason=reason)
            event = self.events.new_event(Source.USER, said)
            append_row(connection, job.conversation_id, event)
            insert_job(connection, new_id, job.conversation_id, trigger, now)
            # It has not been handed to the queue: the next sweep does that in any case.
            wake_job(connection, new_id, now)
        self.events.notifier.notify(job.conversation_id)
        return new_id
