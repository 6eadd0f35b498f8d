"""Open a doorbell that all processes on one database hear and ring."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from patchwright.core.events.doorbell import Doorbell
from patchwright.core.types.ids import RandomIds
from patchwright.workers.db.bell_sockets import BellFolder
from patchwright.workers.db.database import Database
from patchwright.workers.db.notices import notice_errors, open_notices
from patchwright.workers.store.ear import Ear


@contextmanager
def open_doorbell(database: Database) -> Iterator[Doorbell]:
    """Hear the others from now on; whoever has a database opens this once a process."""
    opened = _over_sockets if database.is_sqlite else _over_notices
    with opened(database) as doorbell:
        yield doorbell


@contextmanager
def _over_notices(database: Database) -> Iterator[Doorbell]:
    # Nobody has to be told: the database does it when an event is committed.
    doorbell = Doorbell()
    open_line = partial(open_notices, database)
    with Ear(doorbell, open_line, notice_errors(database)):
        yield doorbell


@contextmanager
def _over_sockets(database: Database) -> Iterator[Doorbell]:
    name = RandomIds().new()
    with BellFolder(_folder_beside(database)) as folder:
        doorbell = Doorbell(partial(folder.send, apart_from=name))
        with Ear(doorbell, partial(folder.listen, name), (OSError,)):
            yield doorbell


def _folder_beside(database: Database) -> Path:
    file = Path(database.engine.url.database or "").resolve()
    return file.with_name(f"{file.name}-bells")
