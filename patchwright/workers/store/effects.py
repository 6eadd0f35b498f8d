"""What a job still has to make visible outside, and what it has already."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row, func, insert, select, update

from patchwright.core.types.base import JobId, Value
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.publish.effects import (
    Effect,
    RunEffect,
    UnknownEffect,
    run_effect_key,
)
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import effects, jobs
from patchwright.workers.store.leases import require_lease

# In the keys of effects that a run has while it works.
_WHILE_RUNNING: Final = "run"
_EFFECT: Final[TypeAdapter[Effect]] = TypeAdapter(Effect)


class EffectState(StrEnum):
    """`ABANDONED` means that it never worked, and that the others go on without it."""

    PENDING = "pending"
    DONE = "done"
    ABANDONED = "abandoned"


class StoredEffect(Value):
    """One effect of a job, by a key that no other effect has.

    `receipt` says where it can be seen, once it is done; `error` is why the last try
    failed. One that is done with an error is one that the run went on without.
    """

    key: str
    job_id: JobId
    effect: Effect
    state: EffectState
    attempts: int
    due_at: datetime
    receipt: str | None
    error: str | None


class BegunEffect(NamedTuple):
    """An effect of a run at work; `is_new` says that nobody can have done it before.

    `receipt` is there if it was done.
    """

    key: str
    is_new: bool
    receipt: str | None


class EffectStore:
    """The outbox: effects of one job are carried out in their order."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_job(self, job_id: JobId) -> tuple[StoredEffect, ...]:
        query = (
            select(effects)
            .where(effects.c.job_id == job_id)
            .order_by(effects.c.position)
        )
        with self._database.reading() as connection:
            return tuple(map(_effect_of, connection.execute(query)))

    def next_due(self, job_id: JobId) -> StoredEffect | None:
        """Return the first effect that is not done, if it may be tried now.

        One that waits to be repeated holds up those behind it, which build on it.
        """
        pending = (
            effect
            for effect in self.of_job(job_id)
            if effect.state is EffectState.PENDING
        )
        first = next(pending, None)
        return first if first and first.due_at <= self._now() else None

    def begin(self, lease: Lease, effect: RunEffect) -> BegunEffect:
        """Record what a run is about to show; an earlier attempt may have done so."""
        own = select(effects.c.key, effects.c.state, effects.c.error, effects.c.receipt)
        query = own.where(effects.c.job_id == lease.job_id)
        prefix = f"{lease.job_id}:{_WHILE_RUNNING}:"
        with self._database.writing() as connection:
            require_lease(connection, lease)
            known = {row.key: row for row in connection.execute(query)}
            part = sum(not key.startswith(prefix) for key in known)
            key = f"{prefix}{run_effect_key(effect, part)}"
            row = known.get(key)
            if row is not None:
                is_done = row.state == EffectState.DONE and row.error is None
                return BegunEffect(key, False, row.receipt if is_done else None)
            now = self._database.now(connection)
            planned = _row_of(lease.job_id, key, len(known), effect)
            state = _state_of_job(connection, lease.job_id)
            if state is not JobState.RUNNING:
                # Somebody is answered while the end is shown, which waits for nothing.
                planned["state"] = EffectState.DONE
            connection.execute(
                insert(effects), {**planned, "planned_at": now, "due_at": now}
            )
            return BegunEffect(key, True, None)

    def mark_refused(self, lease: Lease, key: str, error: str) -> None:
        """Note that a service did not do what the run can go on without."""
        self._change(lease, key, {"state": EffectState.DONE, "error": error})

    def mark_done(self, lease: Lease, key: str, receipt: str) -> None:
        values = {"state": EffectState.DONE, "receipt": receipt, "error": None}
        self._change(lease, key, values)

    def mark_failed(self, lease: Lease, key: str, error: str, wait: timedelta) -> None:
        """Note why it failed; it is due again after `wait`."""
        self._change(lease, key, {"error": error, "due_at": self._now() + wait})

    def abandon(self, lease: Lease, key: str, error: str) -> None:
        """Give it up for good."""
        self._change(lease, key, {"state": EffectState.ABANDONED, "error": error})

    def abandon_first(self, lease: Lease, error: str) -> None:
        """Give up the first effect that is pending, whatever it is."""
        pending = select(func.min(effects.c.position)).where(
            effects.c.job_id == lease.job_id, effects.c.state == EffectState.PENDING
        )
        given_up = (
            update(effects)
            .where(
                effects.c.job_id == lease.job_id,
                effects.c.position == pending.scalar_subquery(),
            )
            .values(state=EffectState.ABANDONED, error=error)
        )
        with self._database.writing() as connection:
            require_lease(connection, lease)
            connection.execute(given_up)

    def _now(self) -> datetime:
        with self._database.reading() as connection:
            return self._database.now(connection)

    def _change(self, lease: Lease, key: str, values: Mapping[str, object]) -> None:
        changed = (
            update(effects)
            .where(effects.c.key == key, effects.c.job_id == lease.job_id)
            .values(attempts=effects.c.attempts + 1, **values)
        )
        with self._database.writing() as connection:
            require_lease(connection, lease)
            connection.execute(changed)


def insert_effects(
    connection: Connection,
    job_id: JobId,
    planned: Sequence[Effect],
    now: datetime,
    due_at: datetime,
) -> None:
    """Add effects behind those that the job has from before it waited for somebody.

    They are due at once, which is `due_at` by the clock of the database.
    """
    query = select(func.count()).where(effects.c.job_id == job_id)
    first = connection.scalars(query).one()
    rows = [
        {
            **_row_of(job_id, f"{job_id}:{position}:{effect.kind}", position, effect),
            "planned_at": now,
            "due_at": due_at,
        }
        for position, effect in enumerate(planned, start=first)
    ]
    if rows:
        connection.execute(insert(effects), rows)


def _state_of_job(connection: Connection, job_id: JobId) -> JobState:
    query = select(jobs.c.state).where(jobs.c.id == job_id)
    return JobState(connection.scalars(query).one())


def _row_of(
    job_id: JobId, key: str, position: int, effect: Effect
) -> dict[str, object]:
    return {
        "key": key,
        "job_id": job_id,
        "position": position,
        "effect": effect.model_dump_json(),
        "state": EffectState.PENDING,
    }


def abandon_pending(connection: Connection, job_id: JobId, error: str) -> None:
    """Give up all that a job still had to do."""
    connection.execute(
        update(effects)
        .where(effects.c.job_id == job_id, effects.c.state == EffectState.PENDING)
        .values(state=EffectState.ABANDONED, error=error)
    )


def has_pending(connection: Connection, job_id: JobId) -> bool:
    query = select(effects.c.key).where(
        effects.c.job_id == job_id, effects.c.state == EffectState.PENDING
    )
    return connection.execute(query.limit(1)).first() is not None


def _read(stored: str) -> Effect:
    """Read an effect; one that cannot be read must not keep the others waiting."""
    try:
        return _EFFECT.validate_json(stored)
    except ValidationError:
        return UnknownEffect()


def _effect_of(row: Row[Any]) -> StoredEffect:
    return StoredEffect(
        key=row.key,
        job_id=row.job_id,
        effect=_read(row.effect),
        state=EffectState(row.state),
        attempts=row.attempts,
        due_at=row.due_at,
        receipt=row.receipt,
        error=row.error,
    )
