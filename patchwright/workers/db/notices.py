"""Hear what other processes have committed to PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol, cast

from sqlalchemy.exc import SQLAlchemyError

from patchwright.workers.db.database import Database

CHANNEL: Final = "patchwright_events"


class _Notification(Protocol):
    @property
    def payload(self) -> str: ...


class _Driver(Protocol):
    """What is used of psycopg's connection, which SQLite's users need not load."""

    def fileno(self) -> int: ...

    def notifies(self, *, timeout: float) -> Iterator[_Notification]: ...


class PostgresNotifications:
    """A connection that listens to the channel."""

    def __init__(self, driver: _Driver) -> None:
        self._driver = driver

    def fileno(self) -> int:
        return self._driver.fileno()

    def take(self) -> frozenset[str]:
        """Return the topics that have come, each once."""
        return frozenset(one.payload for one in self._driver.notifies(timeout=0))


def notification_errors(database: Database) -> tuple[type[Exception], ...]:
    """Return what `open_notices` and its connection may raise."""
    driver = database.engine.dialect.loaded_dbapi
    return (OSError, SQLAlchemyError, driver.Error)


@contextmanager
def open_notifications(database: Database) -> Iterator[PostgresNotifications]:
    """Listen on a connection of our own; `notice_errors` has what that may raise."""
    with database.reading() as connection:
        connection.detach()
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        yield PostgresNotifications(cast("_Driver", connection.connection.dbapi_connection))
