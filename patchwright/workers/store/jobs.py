"""Look up jobs, and wake, cancel or change the active job of a conversation."""

import json
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from patchwright.core.events.actions import ChangeState
from patchwright.core.events.payload import Source
from patchwright.core.types.base import ConversationId, JobId, Value
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import Job, JobState
from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import deliveries, effects, events, jobs
from patchwright.workers.store.effects import EffectState
from patchwright.workers.store.run_rows import change_run_row

_STATE: Final = sa.select(jobs.c.id, jobs.c.state).where(
    jobs.c.conversation_id == sa.bindparam("conversation"), jobs.c.ended_at.is_(None)
)
_ALL: Final = sa.select(
    jobs.c.id, jobs.c.conversation_id, jobs.c.state, jobs.c.trigger
).where(jobs.c.ended_at.is_(None))
_WAKE: Final = (
    sa.update(jobs)
    .where(jobs.c.id == sa.bindparam("job"))
    .values(
        state=JobState.QUEUED,
        submitted_at=None,
        queued_at=sa.bindparam("now", type_=AwareTime),
    )
)


class ActiveJob(Value):
    id: JobId
    conversation_id: ConversationId
    state: JobState
    trigger: Trigger


def find_active_state(
    connection: sa.Connection, conversation_id: ConversationId
) -> tuple[JobId, JobState] | None:
    row = connection.execute(_STATE, {"conversation": conversation_id}).one_or_none()
    return (JobId(row.id), JobState(row.state)) if row else None


def is_about_to_wait(connection: sa.Connection, job_id: JobId) -> bool:
    """Tell whether a job that publishes its outcome waits for people after that."""
    kept = connection.scalars(sa.select(jobs.c.outcome).where(jobs.c.id == job_id))
    outcome = kept.one_or_none()
    return bool(outcome) and Outcome.model_validate_json(str(outcome)).waits


def find_active_job(
    connection: sa.Connection, conversation_id: ConversationId
) -> ActiveJob | None:
    query = _ALL.where(jobs.c.conversation_id == conversation_id)
    row = connection.execute(query).one_or_none()
    return _active_job_of(row) if row else None


def list_active_jobs(connection: sa.Connection) -> tuple[ActiveJob, ...]:
    """Return every job that has not ended, in the order in which they are locked."""
    rows = connection.execute(_ALL.order_by(jobs.c.conversation_id))
    return tuple(map(_active_job_of, rows))


def wake_job(connection: sa.Connection, job_id: JobId, now: datetime) -> None:
    """Let a job that waits for a person go on."""
    connection.execute(_WAKE, {"job": job_id, "now": now})


def cancel_job(connection: sa.Connection, job_id: JobId, now: datetime) -> None:
    """End a job that no worker holds, with nothing to say about it."""
    ended = {"state": JobState.CANCELLED, "ended_at": now}
    connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(ended))


def change_trigger(connection: sa.Connection, job_id: JobId, trigger: Trigger) -> None:
    text = trigger.model_dump_json()
    connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(trigger=text))
    change_run_row(connection, job_id, trigger)


def _active_job_of(row: sa.Row[*tuple[Any, ...]]) -> ActiveJob:
    return ActiveJob(
        id=row.id,
        conversation_id=row.conversation_id,
        state=JobState(row.state),
        trigger=Trigger.model_validate_json(row.trigger),
    )


_KIND: Final = ChangeState.model_fields["kind"].default
_UNREAD: Final = (
    sa.select(events.c.id)
    .join(jobs, jobs.c.conversation_id == events.c.conversation_id)
    .where(
        jobs.c.id == sa.bindparam("job"),
        events.c.kind == _KIND,
        events.c.source == Source.USER.value,
        events.c.id > jobs.c.read_up_to,
        # An earlier job of the conversation was not this one.
        events.c.at >= jobs.c.created_at,
    )
    .limit(1)
)


def has_unread_command(connection: sa.Connection, job_id: JobId) -> bool:
    """Tell whether an operator wants something that the job has not taken note of."""
    return connection.execute(_UNREAD, {"job": job_id}).first() is not None


_JOB: Final = (
    jobs.c.id,
    jobs.c.conversation_id,
    jobs.c.state,
    jobs.c.trigger,
    jobs.c.created_at,
    jobs.c.attempts,
    jobs.c.outcome,
)


# Those of one person are not indexed: a page of them is looked up now and then.
_MOST_LOOKED_AT: Final = 300


class JobStore:
    """Reads jobs; `LeaseStore` and `OutcomeStore` change them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, job_id: JobId) -> Job | None:
        with self._database.reading() as connection:
            row = connection.execute(
                sa.select(*_JOB).where(jobs.c.id == job_id)
            ).first()
        return _job_of(row) if row else None

    def delivery_of(self, job_id: JobId) -> str:
        """Return the service's id of what asked for the job; empty if it was nobody."""
        query = (
            sa.select(deliveries.c.delivery_id)
            .where(deliveries.c.job_id == job_id, deliveries.c.event_id.is_(None))
            .order_by(deliveries.c.received_at)
            .limit(1)
        )
        with self._database.reading() as connection:
            return connection.scalars(query).one_or_none() or ""

    def count_kind_since(
        self, conversation_id: ConversationId, kind: TriggerKind, since: datetime
    ) -> int:
        """Count the conversation's jobs of a kind that began at `since` or later."""
        query = sa.select(sa.func.count()).where(
            jobs.c.conversation_id == conversation_id,
            jobs.c.created_at >= since,
            jobs.c.kind == kind,
        )
        with self._database.reading() as connection:
            return connection.scalars(query).one()

    def count_since(self, conversation_id: ConversationId, since: datetime) -> int:
        """Count the conversation's jobs that were asked for at `since` or later.

        Those that nobody asked for do not count, nor those that were refused or that
        answered a command: no run came of them.
        """
        query = sa.select(sa.func.count()).where(
            jobs.c.conversation_id == conversation_id,
            jobs.c.created_at >= since,
            jobs.c.is_counted,
        )
        with self._database.reading() as connection:
            return connection.scalars(query).one()

    def list_since_last_request(
        self, conversation_id: ConversationId, kind: TriggerKind
    ) -> tuple[Job, ...]:
        """Return the jobs of a kind since a person has last started a run, in order."""
        asked_at = (
            sa.select(sa.func.max(jobs.c.created_at))
            .where(jobs.c.conversation_id == conversation_id, jobs.c.is_counted)
            .scalar_subquery()
        )
        query = (
            sa.select(*_JOB)
            .where(
                jobs.c.conversation_id == conversation_id,
                jobs.c.kind == kind,
                jobs.c.created_at >= asked_at,
            )
            .order_by(jobs.c.created_at)
        )
        with self._database.reading() as connection:
            return tuple(map(_job_of, connection.execute(query)))

    def outcomes_of(self, conversation_id: ConversationId) -> tuple[Outcome, ...]:
        """Return how the conversation's jobs have ended, the oldest first."""
        query = (
            sa.select(jobs.c.outcome)
            .where(
                jobs.c.conversation_id == conversation_id, jobs.c.outcome.is_not(None)
            )
            .order_by(jobs.c.created_at)
        )
        with self._database.reading() as connection:
            kept = connection.scalars(query)
            return tuple(map(Outcome.model_validate_json, kept))

    def first_job_of(self, conversation_id: ConversationId) -> Job | None:
        """Return the job that a conversation began with."""
        return self._of(conversation_id, jobs.c.created_at.asc())

    def last_job_of(self, conversation_id: ConversationId) -> Job | None:
        """Return the conversation's newest job, whatever it is."""
        return self._of(conversation_id, jobs.c.created_at.desc())

    def _of(
        self, conversation_id: ConversationId, order: sa.ColumnElement[datetime]
    ) -> Job | None:
        query = (
            sa.select(*_JOB)
            .where(jobs.c.conversation_id == conversation_id)
            .order_by(order)
            .limit(1)
        )
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return _job_of(row) if row else None

    def newest_run(self, conversation_id: ConversationId) -> Job | None:
        """Return the newest job that has ended and that was more than an answer."""
        query = (
            sa.select(*_JOB)
            .where(
                jobs.c.conversation_id == conversation_id,
                jobs.c.ended_at.is_not(None),
                jobs.c.is_counted,
            )
            .order_by(jobs.c.created_at.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return _job_of(row) if row else None

    def newest_of(self, actor: Actor, limit: int) -> tuple[Job, ...]:
        """Return the newest runs that somebody has asked for.

        However many others have asked since: runs in which the id stands are looked at.
        """
        mark = f'"external_id":{json.dumps(actor.external_id)}'
        query = (
            sa.select(*_JOB)
            .where(jobs.c.is_counted, jobs.c.trigger.contains(mark, autoescape=True))
            .order_by(jobs.c.created_at.desc())
            .limit(_MOST_LOOKED_AT)
        )
        with self._database.reading() as connection:
            newest = tuple(map(_job_of, connection.execute(query)))
        theirs = [one for one in newest if one.trigger.actor.is_same(actor)]
        return tuple(theirs[:limit])

    def take_unfinished(self, resubmit_after_s: float) -> tuple[JobId, ...]:
        """Return the jobs that wait for a worker, and note that they are submitted.

        One that was submitted less than `resubmit_after_s` ago is left out: it is
        probably still in the queue. One that waits to repeat an effect is left out
        until that is due.
        """
        with self._database.writing() as connection:
            now = self._database.now(connection)
            waiting = _waiting(now, now - timedelta(seconds=resubmit_after_s))
            taken = (
                sa.update(jobs).where(jobs.c.id.in_(waiting)).values(submitted_at=now)
            )
            return tuple(map(JobId, connection.scalars(taken.returning(jobs.c.id))))

    def note_overrun(self, job_id: JobId) -> None:
        """Schedule a check of a job's last message: a lost worker wrote after it.

        It needs no lease, since that worker has none.
        """
        with self._database.writing() as connection:
            now = self._database.now(connection)
            ours = sa.update(jobs).where(jobs.c.id == job_id)
            connection.execute(ours.values(verify_at=now))

    def take_unverified(self) -> tuple[JobId, ...]:
        """Return the jobs whose last word is to be verified now, each once."""
        with self._database.writing() as connection:
            now = self._database.now(connection)
            due = (
                sa.select(jobs.c.id)
                .where(jobs.c.verify_at <= now)
                .with_for_update(skip_locked=True)
            )
            taken = sa.update(jobs).where(jobs.c.id.in_(due)).values(verify_at=None)
            return tuple(map(JobId, connection.scalars(taken.returning(jobs.c.id))))


def _waiting(now: datetime, long_ago: datetime) -> sa.Select[*tuple[Any, ...]]:
    """Select the jobs that no worker has and that were not submitted lately."""
    postponed = sa.select(effects.c.job_id).where(
        effects.c.state == EffectState.PENDING, effects.c.due_at > now
    )
    submitted_at, lease_until = jobs.c.submitted_at, jobs.c.lease_until
    # A moment that has yet to come was noted by a clock that is ahead.
    is_due = sa.or_(
        submitted_at.is_(None), submitted_at <= long_ago, submitted_at > now
    )
    return (
        sa.select(jobs.c.id)
        .where(
            jobs.c.ended_at.is_(None),
            jobs.c.state.not_in([JobState.RECEIVED, JobState.WAITING_USER]),
            is_due,
            sa.or_(lease_until.is_(None), lease_until <= now),
            jobs.c.id.not_in(postponed),
        )
        .with_for_update(skip_locked=True)
    )


def _job_of(row: sa.Row[*tuple[Any, ...]]) -> Job:
    return Job(
        id=row.id,
        conversation_id=row.conversation_id,
        state=JobState(row.state),
        trigger=Trigger.model_validate_json(row.trigger),
        created_at=row.created_at,
        attempts=row.attempts,
        outcome=row.outcome and Outcome.model_validate_json(row.outcome),
    )
