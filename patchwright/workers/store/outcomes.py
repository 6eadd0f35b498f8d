"""End jobs: the outcome with its effects, artifacts, and requests left over."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Final

import structlog
from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, delete, func, literal, select, update

from patchwright.core.types.base import Ids, JobId
from patchwright.core.types.errors import LeaseLostError, PatchwrightError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import ENDED, JobState, Lease
from patchwright.resolver.publish.effects import Effect
from patchwright.resolver.run_store import CHECKPOINT, COMMITS
from patchwright.workers.db.database import Database, insert_once, insert_or_replace
from patchwright.workers.db.tables import artifacts, ended_runs, jobs
from patchwright.workers.store.effects import (
    abandon_pending,
    has_pending,
    insert_effects,
)
from patchwright.workers.store.jobs import has_unread_command
from patchwright.workers.store.leases import raise_fence, require_lease
from patchwright.workers.store.requests import (
    find_unread,
    hand_over,
    insert_job,
    postpone,
    take_postponed,
)
from patchwright.workers.store.run_rows import end_run_row

_MICRO: Final = 1_000_000


def count_run(connection: Connection, job_id: JobId, now: datetime) -> None:
    """Count and list the run that ends now; one without an outcome was none."""
    query = select(
        jobs.c.trigger, jobs.c.outcome, jobs.c.created_at, jobs.c.started_at
    ).where(jobs.c.id == job_id)
    row = connection.execute(query).one()
    if row.outcome is None:
        return
    outcome = Outcome.model_validate_json(row.outcome)
    end_run_row(connection, job_id, outcome)
    trigger = Trigger.model_validate_json(row.trigger)
    usage = outcome.usage
    figures = {
        "job_id": job_id,
        "ended_at": now,
        "service": trigger.thread.service,
        "kind": trigger.kind,
        "outcome": outcome.kind,
        "proof": outcome.proof,
        "waited_s": _waited_s(row.created_at, row.started_at),
        "took_s": outcome.seconds,
        "cost_micro_usd": _micro(usage.cost_usd),
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "tokens_cached": usage.tokens_cached,
    }
    insert_once(connection, ended_runs, figures)


def _waited_s(created_at: datetime, started_at: datetime | None) -> float:
    if started_at is None:
        return 0.0
    # Two machines' clocks: the later moment may seem to be the earlier one.
    return max(0.0, (started_at - created_at).total_seconds())


def _micro(usd: float | None) -> int | None:
    if usd is None:
        return None
    exact = Decimal(str(usd)) * _MICRO
    return int(exact.to_integral_value(ROUND_CEILING))


# A run's work is in the first of these that is stored.
WORK_ARTIFACTS: Final = (COMMITS, CHECKPOINT)

log = structlog.get_logger(__name__)


_SUPERSEDED: Final = "the run ended before it was shown"


class EffectsPendingError(PatchwrightError):
    """A job cannot end while a planned effect is neither done nor given up."""

    reason = "effects-pending"


class OutcomeStore:
    """Ends jobs. Each call raises `LeaseLostError` when another worker has the job."""

    def __init__(self, database: Database, ids: Ids) -> None:
        self._database = database
        self._ids = ids

    def store(
        self,
        lease: Lease,
        outcome: Outcome,
        effects: Sequence[Effect],
        *,
        read_up_to: int,
        now: datetime,
        artifacts: Mapping[str, bytes] | None = None,
    ) -> Lease:
        """Keep how the run ended and what follows from it, all or nothing.

        `read_up_to` is the last event the run took notice of: a request that came
        later gets a job of its own when this one ends. Returns the lease, now for
        delivering.
        """
        with self._database.writing() as connection:
            require_lease(connection, lease)
            ended = connection.execute(
                update(jobs)
                .where(jobs.c.id == lease.job_id, jobs.c.state == JobState.RUNNING)
                .values(
                    state=JobState.DELIVERING,
                    outcome=outcome.model_dump_json(),
                    read_up_to=read_up_to,
                    is_counted=jobs.c.is_counted & _was_run(outcome),
                )
            )
            if not ended.rowcount:
                raise LeaseLostError(f"job {lease.job_id} does not run any more")
            end_run_row(connection, lease.job_id, outcome, lease.conversation_id)
            due_at = self._database.now(connection)
            # What the run was about to show when its worker was lost.
            abandon_pending(connection, lease.job_id, _SUPERSEDED)
            insert_effects(connection, lease.job_id, effects, now, due_at)
            _keep_artifacts(connection, lease.job_id, artifacts or {})
        return lease.replace(state=JobState.DELIVERING)

    def finish(
        self,
        lease: Lease,
        state: JobState,
        now: datetime,
        verify_after_s: float = 0.0,
        *,
        outcome: Outcome | None = None,
        keeps_checkpoint: bool = False,
    ) -> JobId | None:
        """End the job, and the lease with it.

        What a successor has said last is verified after `verify_after_s`. An `outcome`
        takes the place of the one that was kept before the delivery. With
        `keeps_checkpoint` the newest work tree stays: nothing else has the work.
        Returns the job that was made of a request nobody has read yet; it is to be
        submitted.
        """
        if state not in ENDED:
            raise ValueError(f"{state} is not how a job ends")
        with self._database.writing() as connection:
            require_lease(connection, lease)
            if has_pending(connection, lease.job_id):
                raise EffectsPendingError(f"job {lease.job_id} has effects to deliver")
            raise_fence(connection, lease.conversation_id)
            connection.execute(
                update(jobs)
                .where(jobs.c.id == lease.job_id)
                .values(
                    state=state,
                    ended_at=now,
                    lease_until=None,
                    **_outcome_columns(outcome),
                    **self._verified(connection, lease, verify_after_s),
                )
            )
            count_run(connection, lease.job_id, now)
            if not keeps_checkpoint:
                _drop_checkpoint(connection, lease.job_id)
            return self._start_unread(connection, lease, now)

    def give_up(self, lease: Lease, outcome: Outcome, now: datetime) -> JobId | None:
        """End a job that crashes every worker, and its open effects.

        Its data is not read, since that may cause the crash, and nothing is removed.
        Returns the job that was made of a request nobody has read yet, if those can be.
        """
        job_id = lease.job_id
        with self._database.writing() as connection:
            require_lease(connection, lease)
            abandon_pending(connection, job_id, outcome.summary)
            raise_fence(connection, lease.conversation_id)
            connection.execute(
                update(jobs)
                .where(jobs.c.id == job_id)
                .values(
                    state=JobState.FAILED,
                    outcome=outcome.model_dump_json(),
                    ended_at=now,
                    lease_until=None,
                )
            )
            try:
                count_run(connection, job_id, now)
                return self._start_unread(connection, lease, now)
            except ValidationError:
                log.exception("end_not_counted", job_id=job_id)
                return None

    def has_work(self, job_id: JobId) -> bool:
        """Return whether work of the run is stored."""
        query = select(artifacts.c.name).where(
            artifacts.c.job_id == job_id,
            artifacts.c.name.in_(WORK_ARTIFACTS),
            func.length(artifacts.c.data) > 0,
        )
        with self._database.reading() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def load_work(self, job_id: JobId) -> bytes | None:
        """Return a bundle of the run's newest stored work."""
        kept = (self.load_artifact(job_id, name) for name in WORK_ARTIFACTS)
        return next(filter(None, kept), None)

    def wait(self, lease: Lease, verify_after_s: float = 0.0) -> bool:
        """Leave the job, and the lease, until a person says something.

        What a successor has said is verified as in `finish`. Returns whether somebody
        has already: then the job is to be submitted.
        """
        with self._database.writing() as connection:
            require_lease(connection, lease)
            if has_pending(connection, lease.job_id):
                raise EffectsPendingError(f"job {lease.job_id} has effects to deliver")
            raise_fence(connection, lease.conversation_id)
            is_awake = bool(
                find_unread(connection, lease.job_id)
            ) or has_unread_command(connection, lease.job_id)
            state = JobState.QUEUED if is_awake else JobState.WAITING_USER
            connection.execute(
                update(jobs)
                .where(jobs.c.id == lease.job_id)
                .values(
                    state=state,
                    attempts=0,
                    worker=None,
                    lease_until=None,
                    queued_at=jobs.c.lease_until,
                    delivery_attempts=0,
                    **self._verified(connection, lease, verify_after_s),
                )
            )
            return is_awake

    def keep_artifact(self, lease: Lease, name: str, data: bytes) -> None:
        """Store something of a running job, in place of the old value."""
        with self._database.writing() as connection:
            require_lease(connection, lease)
            _keep_artifacts(connection, lease.job_id, {name: data})

    def load_artifact(self, job_id: JobId, name: str) -> bytes | None:
        query = select(artifacts.c.data).where(
            artifacts.c.job_id == job_id, artifacts.c.name == name
        )
        with self._database.reading() as connection:
            return connection.scalars(query).one_or_none()

    def _verified(
        self, connection: Connection, lease: Lease, after_s: float
    ) -> Mapping[str, datetime]:
        """Return when what was said last is looked at again, if it must be."""
        if not lease.is_successor:
            return {}
        now = self._database.now(connection)
        return {"verify_at": now + timedelta(seconds=after_s)}

    def _start_unread(
        self, connection: Connection, lease: Lease, now: datetime
    ) -> JobId | None:
        unread = find_unread(connection, lease.job_id)
        # Who has only answered has not asked for anything.
        calls = [one for one in unread if one.trigger.kind is not TriggerKind.REPLY]
        postponed = take_postponed(connection, lease.job_id)
        triggers = (*(one.trigger for one in calls[:1]), *postponed)
        if not triggers:
            return None
        job_id, conversation_id = JobId(self._ids.new()), lease.conversation_id
        insert_job(connection, job_id, conversation_id, triggers[0], now)
        if calls:
            others = (one for one in unread if one is not calls[0])
            hand_over(connection, (calls[0], *others), job_id)
        for trigger in triggers[1:]:
            postpone(connection, self._ids, conversation_id, trigger, now, until=job_id)
        return job_id


def _outcome_columns(outcome: Outcome | None) -> Mapping[str, str]:
    return {} if outcome is None else {"outcome": outcome.model_dump_json()}


def _drop_checkpoint(connection: Connection, job_id: JobId) -> None:
    connection.execute(
        delete(artifacts).where(
            artifacts.c.job_id == job_id, artifacts.c.name == CHECKPOINT
        )
    )


def _was_run(outcome: Outcome) -> ColumnElement[bool]:
    """Return whether a request led to more than a refusal or a ready answer."""
    is_ready_answer = outcome.kind is OutcomeKind.ANSWERED and not outcome.iterations
    return literal(outcome.kind is not OutcomeKind.REFUSED and not is_ready_answer)


def _keep_artifacts(
    connection: Connection, job_id: JobId, named: Mapping[str, bytes]
) -> None:
    for name, data in named.items():
        row = {"job_id": job_id, "name": name, "data": data}
        insert_or_replace(connection, artifacts, row)
