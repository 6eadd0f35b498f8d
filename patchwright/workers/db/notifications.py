"""Notifications between processes: datagrams beside SQLite, NOTIFY in PostgreSQL."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol, Self, cast

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.workers.db.database import Database

_MAX_BYTES: Final = 1_024
# The kernel's limit, with the zero at its end.
# https://man7.org/linux/man-pages/man7/unix.7.html
_MAX_ADDRESS_BYTES: Final = 107

log = structlog.get_logger(__name__)


class NotificationFolder:
    """A folder in which each process that listens has a socket under its name."""

    def __init__(self, path: Path) -> None:
        path.mkdir(mode=0o700, exist_ok=True)
        self._path = path
        self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self._sender = _datagram_socket()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sender.close()
        os.close(self._folder)

    def send(self, topic: str, *, apart_from: str) -> None:
        """Notify all other processes without waiting.

        It never fails: a process with a full socket looks at everything anyway. Sockets
        of ended processes are removed.
        """
        for name in os.listdir(self._folder):  # noqa: PTH208 - it has no path here
            if name != apart_from:
                self._send_to(name, topic.encode())

    @contextmanager
    def listen(self, name: str) -> Iterator["NotificationSocket"]:
        """Open a socket under a name that nobody else has."""
        with _datagram_socket() as wakeup:
            wakeup.bind(self._address(name))
            try:
                yield NotificationSocket(wakeup)
            finally:
                self._remove(name)

    def _send_to(self, name: str, message: bytes) -> None:
        try:
            self._sender.sendto(message, self._address(name))
        except ConnectionRefusedError:
            self._remove(name)
        except (BlockingIOError, FileNotFoundError):
            return
        except OSError as error:
            log.warning("bell_not_rung", error=str(error))

    def _remove(self, name: str) -> None:
        (self._path / name).unlink(missing_ok=True)

    def _address(self, name: str) -> str:
        path = str(self._path / name)
        if len(os.fsencode(path)) <= _MAX_ADDRESS_BYTES:
            return path
        return f"/proc/self/fd/{self._folder}/{name}"


class NotificationSocket:
    """Where the datagrams of the others arrive."""

    def __init__(self, wakeup: socket.socket) -> None:
        self._wakeup = wakeup

    def fileno(self) -> int:
        return self._wakeup.fileno()

    def take(self) -> frozenset[str] | None:
        """Return the topics that have come; None when some may have been lost.

        A datagram is lost only while others wait in front of it.
        """
        topics = list(self._waiting())
        return frozenset(topics) if len(topics) <= 1 else None

    def _waiting(self) -> Iterator[str]:
        try:
            while True:
                yield self._wakeup.recv(_MAX_BYTES).decode(errors="replace")
        except BlockingIOError:
            return


def _datagram_socket() -> socket.socket:
    datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    datagrams.setblocking(False)
    return datagrams


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
    """Return what `open_notifications` and its connection may raise."""
    driver = database.engine.dialect.loaded_dbapi
    return (OSError, SQLAlchemyError, driver.Error)


@contextmanager
def open_notifications(database: Database) -> Iterator[PostgresNotifications]:
    """Listen on an own connection; `notification_errors` has what that may raise."""
    with database.reading() as connection:
        connection.detach()
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        yield PostgresNotifications(
            cast("_Driver", connection.connection.dbapi_connection)
        )
