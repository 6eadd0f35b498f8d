"""The database, SQLite or PostgreSQL: connections, transactions, upserts and errors."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.types.errors import PatchwrightError, SettingsError


class DatabaseUnavailableError(PatchwrightError):
    """The database does not answer, or does not do what is asked of it."""

    reason = "database-unavailable"


@contextmanager
def database_errors() -> Iterator[None]:
    """Raise `DatabaseUnavailableError` in place of what a driver raises."""
    try:
        yield
    except DBAPIError as error:
        raise DatabaseUnavailableError(
            f"the database cannot be used: {database_error_text(error)}; "
            "`patchwright doctor --only database` says what to do"
        ) from error


def database_error_text(error: SQLAlchemyError) -> str:
    """Return in one line what the database said, without the statement's values."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    return " ".join(str(cause).split()) if cause else type(error).__name__


BUSY_TIMEOUT_S = 15.0
# https://www.sqlite.org/wal.html and https://www.sqlite.org/pragma.html: in WAL mode
# NORMAL keeps every commit through the death of a process, and the file consistent
# through the loss of power.
_WRITE_AHEAD: Final = "PRAGMA journal_mode = WAL"
_PRAGMAS: Final = ("PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON")
_WAL_ATTEMPTS: Final = 20
_IS_WRITER: Final = "patchwright_writer"


def make_engine(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        url,
        poolclass=QueuePool,
        pool_size=5,
        max_overflow=45,
        connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
    )
    sa.event.listen(engine, "connect", _prepare_connection)
    sa.event.listen(engine, "begin", _begin_immediate)
    return engine


def connect_writer(engine: sa.Engine) -> sa.Connection:
    """Return the one connection whose transactions write."""
    return engine.connect().execution_options(**{_IS_WRITER: True})


def _prepare_connection(
    connection: sqlite3.Connection, _entry: ConnectionPoolEntry
) -> None:
    # The driver would begin transactions by itself, and late:
    # https://docs.sqlalchemy.org/en/21/dialects/sqlite.html#transactions-with-sqlite
    connection.isolation_level = None
    _set_write_ahead(connection)
    for pragma in _PRAGMAS:
        connection.execute(pragma).close()


def _set_write_ahead(connection: sqlite3.Connection) -> None:
    """Change the file's mode, where processes that start together all want to.

    That does not wait for its turn as a transaction does, so here a transaction waits.
    """
    for _ in range(_WAL_ATTEMPTS):
        try:
            connection.execute(_WRITE_AHEAD).close()
        except sqlite3.OperationalError:
            connection.execute("BEGIN IMMEDIATE").close()
            connection.execute("COMMIT").close()
        else:
            return
    connection.execute(_WRITE_AHEAD).close()


def _begin_immediate(connection: sa.Connection) -> None:
    # A transaction that starts by reading cannot wait for its turn to write; see
    # "IMMEDIATE" in https://www.sqlite.org/lang_transaction.html
    if connection.get_execution_options().get(_IS_WRITER):
        driver = cast("sqlite3.Connection", connection.connection.driver_connection)
        driver.execute("BEGIN IMMEDIATE")


CONNECT_TIMEOUT_S = 5


class Database:
    """Hands out connections: to read, or for one transaction that writes.

    The database behind `postgresql://...` is reached through psycopg 3; `sqlite:///...`
    must be a file. `clock` stands in for the database's own.
    """

    def __init__(
        self, url: str, *, pool_size: int = 10, clock: Clock | None = None
    ) -> None:
        parsed = _parse(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        # A file is on one machine, whose clock all its users share.
        self._clock = clock or (SystemClock() if self.is_sqlite else None)
        if self.is_sqlite:
            self.engine = make_engine(parsed)
            self._writer: sa.Connection | None = None
            self._one_writer = threading.RLock()
            return
        self.engine = sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            pool_size=pool_size,
            max_overflow=2 * pool_size,
            connect_args={"connect_timeout": CONNECT_TIMEOUT_S},
        )
        self._autocommit = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Lend a connection whose statements each see the newest committed rows."""
        engine = self.engine if self.is_sqlite else self._autocommit
        with engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Lend a connection for one transaction, committed unless an error leaves."""
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        # SQLite has one writer at a time anyway. Waiting for this lock is fair, and
        # waiting for the file's is polling; keeping the connection halves the cost.
        with self._one_writer:
            writer = self._connected_writer()
            with writer.begin():
                yield writer

    @contextmanager
    def appending(self) -> Iterator[sa.Connection]:
        """Lend a connection to write with what is a single statement in SQLite.

        There it is a transaction of itself; one around it would cost a third more.
        """
        if not self.is_sqlite:
            with self.writing() as connection:
                yield connection
            return
        with self._one_writer:
            yield self._connected_writer()

    def now(self, connection: sa.Connection) -> datetime:
        """Return the time by the one clock that all processes have in common.

        Moments that one process stores and another compares are taken from here: the
        clocks of two machines may be far apart.
        """
        if self._clock is not None:
            return self._clock.now()
        found: datetime = connection.scalars(sa.select(sa.func.clock_timestamp())).one()
        return found.astimezone(UTC)

    def answers(self) -> bool:
        try:
            with self.reading() as connection:
                connection.execute(sa.text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True

    def close(self) -> None:
        if self.is_sqlite:
            with self._one_writer:
                if self._writer is not None:
                    self._writer.close()
                self._writer = None
        self.engine.dispose()

    def _connected_writer(self) -> sa.Connection:
        if self._writer is None:
            self._writer = connect_writer(self.engine)
        return self._writer


def _parse(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        # The text may hold a password, so it is not repeated here.
        raise SettingsError("database.url is not a database URL") from None
    backend = parsed.get_backend_name()
    if backend not in {"sqlite", "postgresql"}:
        raise SettingsError(
            f"database.url: {backend} is not supported, only sqlite and postgresql"
        )
    if backend == "sqlite" and parsed.database in {None, "", ":memory:"}:
        raise SettingsError("database.url: SQLite needs a file, sqlite:////path/to.db")
    return parsed


@contextmanager
def open_existing(url: str) -> Iterator[Database | None]:
    """Lend the database; None where it is a file that is not there yet."""
    with closing(Database(url)) as database:
        yield None if is_missing(database) else database


def is_missing(database: Database) -> bool:
    """Tell whether it is a file that is not there yet, which to connect would make."""
    file = database_file(database)
    return file is not None and not file.exists()


def database_file(database: Database) -> Path | None:
    """Return the file of a database, None where it is a server's."""
    return Path(database.engine.url.database or "") if database.is_sqlite else None


def insert_once(
    connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]
) -> bool:
    """Insert a row unless it breaks a unique constraint; tell whether it was new.

    Where another transaction has just inserted such a row, this waits for its end.
    """
    statement = _insert_or_nothing(connection.dialect.name, table)
    return connection.execute(statement, values).rowcount == 1


def insert_or_replace(
    connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]
) -> None:
    """Insert a row, or give the one with its primary key these values."""
    replacing = _insert(connection.dialect.name, table).on_conflict_do_update(
        index_elements=list(table.primary_key.columns), set_=dict(values)
    )
    connection.execute(replacing.values(values))


@cache
def _insert_or_nothing(
    dialect_name: str, table: sa.Table
) -> postgresql.Insert | sqlite.Insert:
    statement = _insert(dialect_name, table).on_conflict_do_nothing()
    # SQLAlchemy forgets the row count of an insert unless it is asked to keep it.
    return statement.execution_options(preserve_rowcount=True)


def _insert(dialect_name: str, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    # Both spell it alike, and SQLAlchemy has no name for what they share.
    if dialect_name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)
