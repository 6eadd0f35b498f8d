"""A database that is emptied for the next test, which takes far less than a new one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import psycopg
from psycopg import sql

from tests.provision.postgres_server import PostgresServer

# Rows that the migrations themselves leave.
VERSION = "alembic_version"
TABLES = """
    SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> %s
"""
# All that a test could change besides rows.
SCHEMA = """
    SELECT md5(string_agg(line, '|' ORDER BY line)) FROM (
        SELECT format('%s %s %s %s %s', relname, relkind, attname, atttypid, attnotnull)
            AS line
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
        WHERE relnamespace NOT IN (
            SELECT oid FROM pg_namespace
            WHERE nspname IN ('pg_catalog', 'information_schema', 'pg_toast')
        )
        UNION ALL
        SELECT conrelid || pg_get_constraintdef(oid) FROM pg_constraint
        UNION ALL
        SELECT version_num FROM alembic_version
    ) AS lines
"""
OTHERS = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True)
class EmptiedDatabase:
    """A database with the newest schema, and our own connection to it."""

    url: str
    connection: "psycopg.Connection[Any]"
    tables: tuple[str, ...]
    schema: str

    def empty(self) -> bool:
        """End who is connected and delete all rows; say whether the schema is the same.

        Where it is not, the next test must have another database.
        """
        self.connection.execute(OTHERS)
        if _schema(self.connection) != self.schema:
            return False
        for table in self._with_rows():
            delete = sql.SQL("DELETE FROM {}").format(sql.Identifier(table))
            self.connection.execute(delete)
        return True

    def _with_rows(self) -> list[str]:
        has_rows = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})")
        asked = sql.SQL(" UNION ALL ").join(
            has_rows.format(table, sql.Identifier(table)) for table in self.tables
        )
        return [name for (name,) in self.connection.execute(asked)]


@dataclass
class EmptiedDatabases:
    """Lends one database again and again, as long as nobody changes its schema."""

    server: PostgresServer
    template: str
    _lent: EmptiedDatabase | None = None
    _opened: ExitStack = field(default_factory=ExitStack)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @contextmanager
    def lend(self) -> Iterator[str]:
        """Return the URL of a database with the newest schema and no rows."""
        lent = self._lent or self._make()
        yield lent.url
        if not lent.empty():
            self.close()

    def close(self) -> None:
        self._lent = None
        self._opened.close()

    def _make(self) -> EmptiedDatabase:
        name = f"emptied_{next(self._numbers)}"
        fresh = self.server.fresh_database(name, self.template)
        url = self._opened.enter_context(fresh)
        plain = url.replace("+psycopg", "")
        connection = self._opened.enter_context(psycopg.connect(plain, autocommit=True))
        # Rows go whatever refers to them.
        connection.execute("SET session_replication_role = replica")
        tables = tuple(name for (name,) in connection.execute(TABLES, [VERSION]))
        self._lent = EmptiedDatabase(url, connection, tables, _schema(connection))
        return self._lent


def _schema(connection: "psycopg.Connection[Any]") -> str:
    found = connection.execute(SCHEMA).fetchone()
    assert found is not None
    return str(found[0])
