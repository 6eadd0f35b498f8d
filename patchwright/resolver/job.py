"""A job, and the lease that a worker needs to run it."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from patchwright.core.types.base import ConversationId, JobId, Value
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome


class JobState(StrEnum):
    RECEIVED = "received"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING_USER = "waiting-user"
    DELIVERING = "delivering"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED: Final = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class Job(Value):
    """One run of a task. `attempts` counts the workers that began to run it."""

    id: JobId
    conversation_id: ConversationId
    state: JobState
    trigger: Trigger
    created_at: datetime
    attempts: int
    outcome: Outcome | None


def is_over(job: Job) -> bool:
    return job.state in ENDED


def outcome_of(job: Job) -> Outcome | None:
    """Return how the job ended or why it waits; a job that runs again has neither."""
    return None if job.state in (JobState.QUEUED, JobState.RUNNING) else job.outcome


class Lease(Value):
    """The right to run a job until `until`, unless it is extended.

    `fence` is checked by every write for the job: only the newest lease of a
    conversation may write. `attempt` counts from 1; `state` is RUNNING, or DELIVERING
    when an earlier worker has already stored the outcome. With `is_successor` another
    worker had the job before. That worker may still run and not know that it lost the
    job. `delivery_attempt` counts the workers that continued a lost worker's delivery.
    """

    job_id: JobId
    conversation_id: ConversationId
    worker: str
    fence: int
    until: datetime
    attempt: int
    state: JobState
    is_successor: bool = False
    delivery_attempt: int = 0
