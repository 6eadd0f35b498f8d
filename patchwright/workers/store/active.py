"""The one job of a conversation that has not ended, and what can be done to it."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, select, update

from patchwright.core.types.base import Value
from patchwright.core.types.ids import ConversationId, JobId
from patchwright.core.types.triggers import Trigger
from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.tables import jobs
from patchwright.workers.store.job import JobState

_STATE: Final = select(jobs.c.id, jobs.c.state).where(
    jobs.c.conversation_id == bindparam("conversation"), jobs.c.ended_at.is_(None)
)
_ALL: Final = select(
    jobs.c.id, jobs.c.conversation_id, jobs.c.state, jobs.c.trigger
).where(jobs.c.ended_at.is_(None))
_WAKE: Final = (
    update(jobs)
    .where(jobs.c.id == bindparam("job"))
    .values(
        state=JobState.QUEUED,
        submitted_at=None,
        queued_at=bindparam("now", type_=AwareTime),
    )
)


class ActiveJob(Value):
    id: JobId
    conversation_id: ConversationId
    state: JobState
    trigger: Trigger


def find_active_state(
    connection: Connection, conversation_id: ConversationId
) -> tuple[JobId, JobState] | None:
    row = connection.execute(_STATE, {"conversation": conversation_id}).one_or_none()
    return (JobId(row.id), JobState(row.state)) if row else None


def find_active_job(
    connection: Connection, conversation_id: ConversationId
) -> ActiveJob | None:
    query = _ALL.where(jobs.c.conversation_id == conversation_id)
    row = connection.execute(query).one_or_none()
    return _active_job_of(row) if row else None


def list_active_jobs(connection: Connection) -> tuple[ActiveJob, ...]:
    """Return every job that has not ended, in the order in which they are locked."""
    rows = connection.execute(_ALL.order_by(jobs.c.conversation_id))
    return tuple(map(_active_job_of, rows))


def wake_job(connection: Connection, job_id: JobId, now: datetime) -> None:
    """Let a job that waits for a person go on."""
    connection.execute(_WAKE, {"job": job_id, "now": now})


def cancel_job(connection: Connection, job_id: JobId, now: datetime) -> None:
    """End a job that no worker holds, with nothing to say about it."""
    ended = {"state": JobState.CANCELLED, "ended_at": now}
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(ended))


def change_trigger(connection: Connection, job_id: JobId, trigger: Trigger) -> None:
    text = trigger.model_dump_json()
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(trigger=text))


def _active_job_of(row: Row[*tuple[Any, ...]]) -> ActiveJob:
    return ActiveJob(
        id=row.id,
        conversation_id=row.conversation_id,
        state=JobState(row.state),
        trigger=Trigger.model_validate_json(row.trigger),
    )
