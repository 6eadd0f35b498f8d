"""Open a doorbell that all processes on one database hear and ring."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from patchwright.core.events.doorbell import Notifier
from patchwright.core.types.ids import RandomIds
from patchwright.workers.db.bell_sockets import NotificationFolder
from patchwright.workers.db.database import Database
from patchwright.workers.db.notices import notification_errors, open_notifications
from patchwright.workers.store.ear import NotificationListener


@contextmanager
def open_notifier(database: Database) -> Iterator[Notifier]:
    """Hear the others from now on; whoever has a database opens this once a process."""
    opened = _over_sockets if database.is_sqlite else _over_notices
    with opened(database) as notifier:
        yield notifier


@contextmanager
def _over_notices(database: Database) -> Iterator[Notifier]:
    # Nobody has to be told: the database does it when an event is committed.
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
