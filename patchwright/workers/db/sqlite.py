"""How SQLite is set up: write-ahead log, one writer, whole transactions."""

import sqlite3
from typing import Final, cast

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

BUSY_TIMEOUT_S = 15.0
# https://www.sqlite.org/wal.html and https://www.sqlite.org/pragma.html: in WAL mode
# NORMAL keeps every commit through the death of a process, and the file consistent
# through the loss of power.
_WRITE_AHEAD: Final = "PRAGMA journal_mode = WAL"
_PRAGMAS: Final = ("PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON")
_WAL_ATTEMPTS: Final = 20
_IS_WRITER: Final = "patchwright_writer"


def make_engine(url: URL) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=5,
        max_overflow=45,
        connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def connect_writer(engine: Engine) -> Connection:
    """Return the one connection whose transactions write."""
    return engine.connect().execution_options(**{_IS_WRITER: True})


def _prepare_connection(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
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


def _begin_immediate(connection: Connection) -> None:
    # A transaction that starts by reading cannot wait for its turn to write; see
    # "IMMEDIATE" in https://www.sqlite.org/lang_transaction.html
    if connection.get_execution_options().get(_IS_WRITER):
        driver = cast("sqlite3.Connection", connection.connection.driver_connection)
        driver.execute("BEGIN IMMEDIATE")
