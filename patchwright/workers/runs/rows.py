"""Look up the ids of runs in the database."""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Select, select

from patchwright.core.types.ids import JobId
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations, jobs
from patchwright.workers.runs.listed import STATES, RunFilter

IDS_PER_PAGE: Final = 100


def list_ids_beginning_with(database: Database, prefix: str) -> tuple[str, ...]:
    """Return ids that begin so, not all of them where they are many."""
    query = select(jobs.c.id).where(jobs.c.id.startswith(prefix, autoescape=True))
    with database.reading() as connection:
        return tuple(connection.scalars(query.limit(IDS_PER_PAGE)))


def list_newest_ids(database: Database, wanted: RunFilter) -> Iterator[JobId]:
    """Yield the ids of runs that may be wanted, the newest first, page by page."""
    query, start = _query(wanted), 0
    while ids := _page(database, query, start):
        yield from ids
        start += len(ids)


def _page(database: Database, query: Select[Any], start: int) -> tuple[JobId, ...]:
    with database.reading() as connection:
        ids = connection.scalars(query.limit(IDS_PER_PAGE).offset(start))
        return tuple(map(JobId, ids))


def _query(wanted: RunFilter) -> Select[Any]:
    query = select(jobs.c.id).order_by(jobs.c.created_at.desc(), jobs.c.id)
    if wanted.stage is not None:
        query = query.where(jobs.c.state.in_(STATES[wanted.stage]))
    if wanted.repo:
        query = query.join(conversations).where(
            conversations.c.repo.endswith(f":{wanted.repo}", autoescape=True)
        )
    return query
