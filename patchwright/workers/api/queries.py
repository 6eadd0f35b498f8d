"""What the API asks of the database, page by page."""

from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa

from patchwright.core.types.base import ConversationId, JobId, Value
from patchwright.core.types.threads import RepoRef
from patchwright.workers.api.cursors import Position
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import (
    accounts,
    conversations,
    deliveries,
    jobs,
    reservations,
)

_ROWS_AT_ONCE: Final = 100
_MICRO: Final = 1_000_000


class ListedRow(Value):
    """A row of a list that has a time, and where the list goes on after it."""

    id: str
    position: Position


class ConversationRow(Value):
    """A conversation as the table has it; `repo` is `forge:OWNER/NAME`, or empty."""

    repo: str
    title: str


def newest_conversations(
    database: Database, after: Position | None, repo: str
) -> Iterator[ListedRow]:
    query = sa.select(conversations.c.id, conversations.c.created_at)
    if repo:
        query = query.where(_is_repo(repo))
    return _rows(database, query, conversations, after)


def _is_repo(repo: str) -> sa.ColumnElement[bool]:
    return conversations.c.repo.endswith(f":{repo}", autoescape=True)


def _rows(
    database: Database,
    query: sa.Select[*tuple[Any, ...]],
    table: sa.Table,
    after: Position | None,
) -> Iterator[ListedRow]:
    ordered = query.order_by(table.c.created_at.desc(), table.c.id)
    while True:
        part = ordered if after is None else ordered.where(_comes_after(table, after))
        with database.reading() as connection:
            rows = connection.execute(part.limit(_ROWS_AT_ONCE)).all()
        for row in rows:
            after = Position(at=row.created_at, id=row.id)
            yield ListedRow(id=row.id, position=after)
        if len(rows) < _ROWS_AT_ONCE:
            return


def _comes_after(table: sa.Table, place: Position) -> sa.ColumnElement[bool]:
    at, row_id = table.c.created_at, table.c.id
    return sa.or_(at < place.at, sa.and_(at == place.at, row_id > place.id))


def load_conversation(
    database: Database, conversation_id: ConversationId
) -> ConversationRow | None:
    query = sa.select(conversations.c.repo, conversations.c.title).where(
        conversations.c.id == conversation_id
    )
    with database.reading() as connection:
        row = connection.execute(query).one_or_none()
    return row and ConversationRow(repo=row.repo, title=row.title)


def list_job_ids(
    database: Database, conversation_id: ConversationId
) -> tuple[JobId, ...]:
    """Return the conversation's jobs, the oldest first."""
    query = (
        sa.select(jobs.c.id)
        .where(jobs.c.conversation_id == conversation_id)
        .order_by(jobs.c.created_at, jobs.c.id)
    )
    with database.reading() as connection:
        return tuple(map(JobId, connection.scalars(query)))


def repositories_by_name(database: Database, after: str) -> Iterator[RepoRef]:
    """Yield the repositories of conversations, by forge and name."""
    repo = conversations.c.repo
    query = sa.select(repo).where(repo.contains(":")).distinct().order_by(repo)
    while True:
        part = query.where(repo > after).limit(_ROWS_AT_ONCE)
        with database.reading() as connection:
            rows = connection.scalars(part).all()
        for row in rows:
            after = row
            forge, _, name = row.partition(":")
            yield RepoRef(forge=forge, full_name=name)
        if len(rows) < _ROWS_AT_ONCE:
            return


class StoredRequest(Value):
    """A request that came by the API, and what came of it."""

    delivery_id: str
    verdict: str
    conversation_id: str | None
    run_id: str | None


def find_requests(
    database: Database, service: str, id_prefix: str
) -> tuple[StoredRequest, ...]:
    """Return those whose id begins so."""
    query = sa.select(
        deliveries.c.delivery_id,
        deliveries.c.verdict,
        deliveries.c.conversation_id,
        deliveries.c.job_id,
    ).where(
        deliveries.c.service == service,
        deliveries.c.delivery_id.startswith(id_prefix, autoescape=True),
    )
    with database.reading() as connection:
        return tuple(
            StoredRequest(
                delivery_id=row.delivery_id,
                verdict=row.verdict,
                conversation_id=row.conversation_id,
                run_id=row.job_id,
            )
            for row in connection.execute(query)
        )


class SpendPart(StrEnum):
    """Into what the money is parted."""

    DAY = "day"
    REPOSITORY = "repository"
    PERSON = "person"


class SpentRow(Value):
    """What was spent on one part, in US dollars."""

    key: str
    name: str
    spent_usd: float
    assumed_usd: float


def load_spend(database: Database, by: SpendPart, since: date) -> tuple[SpentRow, ...]:
    """Return the parts since a day in UTC; days in order, others the dearest first."""
    column = {
        SpendPart.DAY: reservations.c.day,
        SpendPart.REPOSITORY: reservations.c.repo,
        SpendPart.PERSON: reservations.c.account_id,
    }[by]
    spent = sa.func.coalesce(sa.func.sum(reservations.c.settled_micro_usd), 0)
    assumed = sa.func.coalesce(sa.func.sum(reservations.c.assumed_micro_usd), 0)
    name = sa.func.max(accounts.c.name) if by is SpendPart.PERSON else column
    query = sa.select(
        column.label("key"),
        name.label("name"),
        spent.label("spent"),
        assumed.label("assumed"),
    )
    if by is SpendPart.PERSON:
        query = query.select_from(
            reservations.outerjoin(accounts, accounts.c.id == reservations.c.account_id)
        )
    order = column if by is SpendPart.DAY else spent.desc()
    query = (
        query.where(reservations.c.day >= since.isoformat())
        .group_by(column)
        .order_by(order, column)
    )
    with database.reading() as connection:
        return tuple(
            SpentRow(
                key=row.key,
                name=(row.name or row.key).partition(":")[2] or row.name or row.key,
                spent_usd=int(row.spent) / _MICRO,
                assumed_usd=int(row.assumed) / _MICRO,
            )
            for row in connection.execute(query)
        )
