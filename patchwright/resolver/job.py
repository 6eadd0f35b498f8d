"""What a job and the right to run it are."""

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
    """Return how it ended or why it waits; one that goes on again has neither."""
    return None if job.state in (JobState.QUEUED, JobState.RUNNING) else job.outcome


class Lease(Value):
    """The right to run a job until `until`, unless it is extended.

    `fence` is checked by every write for the job: only the newest lease of a
    conversation may write. `attempt` counts from 1; `state` is RUNNING, or DELIVERING
    when an earlier worker has already stored the outcome. With `is_successor` another
    worker has had the job before, and may be alive without knowing that it lost it.
    `delivery_attempt` counts the workers that took up a delivery from a lost one.
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
