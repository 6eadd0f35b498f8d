"""Inserts that mind a row which is already there."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_once(
    connection: Connection, table: Table, values: Mapping[str, Any]
) -> bool:
    """Insert a row unless it breaks a unique constraint; tell whether it was new.

    Where another transaction has just inserted such a row, this waits for its end.
    """
    statement = _insert_or_nothing(connection.dialect.name, table)
    return connection.execute(statement, values).rowcount == 1


def insert_or_replace(
    connection: Connection, table: Table, values: Mapping[str, Any]
) -> None:
    """Insert a row, or give the one with its primary key these values."""
    replacing = _insert(connection.dialect.name, table).on_conflict_do_update(
        index_elements=list(table.primary_key.columns), set_=dict(values)
    )
    connection.execute(replacing.values(values))


@cache
def _insert_or_nothing(
    dialect_name: str, table: Table
) -> postgresql.Insert | sqlite.Insert:
    statement = _insert(dialect_name, table).on_conflict_do_nothing()
    # SQLAlchemy forgets the row count of an insert unless it is asked to keep it.
    return statement.execution_options(preserve_rowcount=True)


def _insert(dialect_name: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    # Both spell it alike, and SQLAlchemy has no name for what they share.
    if dialect_name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)
