"""Hear in each process of new events that others have appended to one database."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from typing import Final, Protocol, Self, cast

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.events.log import Notifier
from patchwright.core.types.base import ConversationId
from patchwright.workers.db.database import Database
from patchwright.workers.store.events import CHANNEL

LOOK_AGAIN_S: Final = 1.0
# How long one look takes, after which a listener can be closed.
_WAIT_S: Final = 0.05

log = structlog.get_logger(__name__)

# Waits a moment; returns the conversations that have news, None when any of them may.
WaitForNews = Callable[[], frozenset[str] | None]


class NotificationListener:
    """Listens on a line that it opens again whenever it breaks with one of `errors`.

    What was missed meanwhile is not known, so everybody is told to look: each second
    while there is no line, and once when there is one again.
    """

    def __init__(
        self,
        notifier: Notifier,
        open_line: Callable[[], AbstractContextManager[WaitForNews]],
        errors: tuple[type[Exception], ...],
    ) -> None:
        self._notifier, self._open_line, self._errors = notifier, open_line, errors
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self._closing, self._has_tried = threading.Event(), threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._has_tried.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                self._listen()
        finally:
            self._has_tried.set()

    def _listen(self) -> None:
        try:
            with self._open_line() as wait_for_news:
                self._notify(None)
                while not self._closing.is_set():
                    self._notify(wait_for_news())
        except self._errors as error:
            log.warning("others_not_heard", error=type(error).__name__)
            self._notify(None)
            self._closing.wait(LOOK_AGAIN_S)

    def _notify(self, topics: frozenset[str] | None) -> None:
        if topics is None:
            self._notifier.notify_all_here()
            self._has_tried.set()
        for topic in topics or ():
            self._notifier.notify_here(ConversationId(topic))


@contextmanager
def open_notifier(database: Database) -> Iterator[Notifier]:
    """Hear the others from now on; whoever has a database opens this once a process."""
    notifier = Notifier()
    driver = database.engine.dialect.loaded_dbapi
    errors = (OSError, SQLAlchemyError, driver.Error)
    open_line = _watch_sqlite if database.is_sqlite else _listen_to_postgres
    with NotificationListener(notifier, partial(open_line, database), errors):
        yield notifier


_NEWEST: Final = "SELECT coalesce(max(rowid), 0) FROM events"
_NEWER: Final = "SELECT DISTINCT conversation_id FROM events WHERE rowid > ?"


@contextmanager
def _watch_sqlite(database: Database) -> Iterator[WaitForNews]:
    """Look for new rows, whenever another connection has committed something.

    https://www.sqlite.org/pragma.html#pragma_data_version
    """
    file, pause = database.engine.url.database or "", threading.Event()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:

        def number(query: str) -> int:
            return int(connection.execute(query).fetchone()[0])

        version, newest = number("PRAGMA data_version"), number(_NEWEST)

        def wait_for_news() -> frozenset[str] | None:
            nonlocal version, newest
            pause.wait(_WAIT_S)
            if (now := number("PRAGMA data_version")) == version:
                return frozenset()
            before, version, newest = newest, now, number(_NEWEST)
            if newest < before:
                # The newest rows were erased, and others may have their numbers.
                return None
            return frozenset(row[0] for row in connection.execute(_NEWER, (before,)))

        yield wait_for_news


class _Notification(Protocol):
    @property
    def payload(self) -> str: ...


class _Driver(Protocol):
    """What is used of psycopg's connection, which SQLite's users need not load."""

    def notifies(
        self, *, timeout: float, stop_after: int
    ) -> Iterator[_Notification]: ...


@contextmanager
def _listen_to_postgres(database: Database) -> Iterator[WaitForNews]:
    """Listen on an own connection to what is told when events are committed."""
    with database.reading() as connection:
        connection.detach()
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        driver = cast("_Driver", connection.connection.dbapi_connection)

        def wait_for_news() -> frozenset[str]:
            found = driver.notifies(timeout=_WAIT_S, stop_after=1)
            return frozenset(one.payload for one in found)

        yield wait_for_news
