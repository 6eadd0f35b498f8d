"""What the database says of this moment: what waits, and who is there."""

from collections import Counter
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, select
from sqlalchemy.sql.elements import ColumnElement, literal_column

from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.tables import effects, jobs, missed_deliveries
from patchwright.workers.ops.presence import ProcessStatus
from patchwright.workers.ops.waiting import is_lost
from patchwright.workers.store.effects import EffectState
from patchwright.workers.store.job import ENDED, JobState

_ACTIVE: Final = tuple(state for state in JobState if state not in ENDED)


def active_jobs(connection: Connection) -> dict[str, int]:
    """Count the jobs that have not ended by their state, also where there are none."""
    query = (
        select(jobs.c.state, func.count())
        .where(jobs.c.state.in_(_ACTIVE))
        .group_by(jobs.c.state)
    )
    found = {row[0]: row[1] for row in connection.execute(query)}
    return {state: found.get(state, 0) for state in _ACTIVE}


def lost_jobs(connection: Connection, now: datetime) -> int:
    return connection.scalars(select(func.count()).where(is_lost(now))).one()


def missed_by_service(connection: Connection) -> dict[str, int]:
    service = missed_deliveries.c.service
    rows = connection.execute(select(service, func.count()).group_by(service))
    return {row[0]: row[1] for row in rows}


def pending_effects(connection: Connection) -> tuple[int, datetime | None]:
    """Return how many there are, and when the oldest was planned."""
    planned_at = func.coalesce(effects.c.planned_at, effects.c.due_at, type_=AwareTime)
    query = select(func.count(), func.min(planned_at, type_=AwareTime))
    row = connection.execute(query.where(*_unfinished(EffectState.PENDING))).one()
    return row[0], row[1]


def abandoned_effects(connection: Connection) -> int:
    query = select(func.count()).where(*_unfinished(EffectState.ABANDONED))
    return connection.scalars(query).one()


def processes(present: tuple[ProcessStatus, ...]) -> dict[tuple[str, ...], int]:
    """Count processes by role, version, and whether all of it works."""
    labels = ((one.role, one.version, "no" if one.red else "yes") for one in present)
    return dict(Counter[tuple[str, ...]](labels))


def _unfinished(state: EffectState) -> tuple[ColumnElement[bool], ...]:
    # Spelt as the index has it, so that it is used.
    return (effects.c.state != literal_column("'done'"), effects.c.state == state)
