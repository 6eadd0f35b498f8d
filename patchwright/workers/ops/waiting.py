"""Which jobs wait for a worker, and since when."""

from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, or_, select

from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import jobs
from patchwright.workers.store.job import JobState

_QUEUED_AT = func.coalesce(jobs.c.queued_at, jobs.c.created_at, type_=AwareTime)


def oldest_job_waits_since(database: Database) -> datetime | None:
    """Return since when the oldest job waits for a worker; None if none does.

    One whose worker is dead waits since its lease has run out.
    """
    queued = select(func.min(_QUEUED_AT, type_=AwareTime)).where(
        jobs.c.state == JobState.QUEUED
    )
    leases = select(func.min(jobs.c.lease_until, type_=AwareTime))
    with database.reading() as connection:
        lost = leases.where(is_lost(database.now(connection)))
        moments = [connection.scalars(query).one() for query in (queued, lost)]
    return min((one for one in moments if one is not None), default=None)


def is_lost(now: datetime) -> ColumnElement[bool]:
    """Select the jobs whose worker has shown no sign of life for too long."""
    held = or_(jobs.c.state == JobState.RUNNING, jobs.c.state == JobState.DELIVERING)
    return and_(held, jobs.c.lease_until < now)
