"""One database, SQLite or PostgreSQL, and the two ways to use it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import URL, Connection, create_engine, func, make_url, select, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.errors import SettingsError
from patchwright.workers.db import sqlite

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
            self.engine = sqlite.make_engine(parsed)
            self._writer: Connection | None = None
            self._one_writer = threading.RLock()
            return
        self.engine = create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            pool_size=pool_size,
            max_overflow=2 * pool_size,
            connect_args={"connect_timeout": CONNECT_TIMEOUT_S},
        )
        self._autocommit = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection whose statements each see the newest committed rows."""
        engine = self.engine if self.is_sqlite else self._autocommit
        with engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
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
    def appending(self) -> Iterator[Connection]:
        """Lend a connection to write with what is a single statement in SQLite.

        There it is a transaction of itself; one around it would cost a third more.
        """
        if not self.is_sqlite:
            with self.writing() as connection:
                yield connection
            return
        with self._one_writer:
            yield self._connected_writer()

    def now(self, connection: Connection) -> datetime:
        """Return the time by the one clock that all processes have in common.

        Moments that one process stores and another compares are taken from here: the
        clocks of two machines may be far apart.
        """
        if self._clock is not None:
            return self._clock.now()
        found: datetime = connection.scalars(select(func.clock_timestamp())).one()
        return found.astimezone(UTC)

    def answers(self) -> bool:
        try:
            with self.reading() as connection:
                connection.execute(text("SELECT 1"))
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

    def _connected_writer(self) -> Connection:
        if self._writer is None:
            self._writer = sqlite.connect_writer(self.engine)
        return self._writer


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
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
