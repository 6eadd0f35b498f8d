"""Send and receive notifications of new events between processes on one database."""

import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, Protocol, Self

import structlog

from patchwright.core.events.log import Notifier
from patchwright.core.types.base import ConversationId, RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.db.notifications import (
    NotificationFolder,
    notification_errors,
    open_notifications,
)

LOOK_AGAIN_S: Final = 1.0

log = structlog.get_logger(__name__)


class NotificationSource(Protocol):
    """Something that can be waited for and then read; `take` does not block."""

    def fileno(self) -> int: ...

    def take(self) -> frozenset[str] | None:
        """Return the conversations that have news; None when any of them may."""
        ...


class NotificationListener:
    """Listens on a line that it opens again whenever it breaks with one of `errors`.

    Missed notifications are unknown, so everybody is notified: each second while there
    is no line, and once when there is one again.
    """

    def __init__(
        self,
        notifier: Notifier,
        open_line: Callable[[], AbstractContextManager[NotificationSource]],
        errors: tuple[type[Exception], ...],
    ) -> None:
        self._notifier, self._open_line, self._errors = notifier, open_line, errors
        self._thread = threading.Thread(
            target=self._run, name="notifications", daemon=True
        )
        self._closing = False
        self._has_tried = threading.Event()
        self._wake, self._woken = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._woken, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        self._thread.start()
        self._has_tried.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        self._wake.send(b"\0")
        self._thread.join()
        self._selector.close()
        self._wake.close()
        self._woken.close()

    def _run(self) -> None:
        try:
            self._listen_until_closed()
        finally:
            self._has_tried.set()

    def _listen_until_closed(self) -> None:
        while not self._closing:
            try:
                with self._open_line() as line:
                    self._receive(line)
            except self._errors as error:
                log.warning("others_not_heard", error=type(error).__name__)
                self._notifier.notify_all_here()
                self._has_tried.set()
                self._selector.select(LOOK_AGAIN_S)

    def _receive(self, line: NotificationSource) -> None:
        # By number: a connection that broke has none to be found by any more.
        number = line.fileno()
        self._selector.register(number, selectors.EVENT_READ)
        try:
            self._notifier.notify_all_here()
            self._has_tried.set()
            while not self._closing:
                ready = {key.fd for key, _ in self._selector.select()}
                if number in ready:
                    self._ring(line.take())
        finally:
            self._selector.unregister(number)

    def _ring(self, topics: frozenset[str] | None) -> None:
        if topics is None:
            self._notifier.notify_all_here()
            return
        for topic in topics:
            self._notifier.notify_here(ConversationId(topic))


@contextmanager
def open_notifier(database: Database) -> Iterator[Notifier]:
    """Receive notifications from now on; each process with a database opens one."""
    opened = _over_sockets if database.is_sqlite else _over_notices
    with opened(database) as notifier:
        yield notifier


@contextmanager
def _over_notices(database: Database) -> Iterator[Notifier]:
    # Nothing to send: the database notifies when an event is committed.
    notifier = Notifier()
    open_line = partial(open_notifications, database)
    with NotificationListener(notifier, open_line, notification_errors(database)):
        yield notifier


@contextmanager
def _over_sockets(database: Database) -> Iterator[Notifier]:
    name = RandomIds().new()
    with NotificationFolder(_folder_beside(database)) as folder:
        notifier = Notifier(partial(folder.send, apart_from=name))
        with NotificationListener(notifier, partial(folder.listen, name), (OSError,)):
            yield notifier


def _folder_beside(database: Database) -> Path:
    file = Path(database.engine.url.database or "").resolve()
    return file.with_name(f"{file.name}-bells")
