"""Look into a database as it is: none is made, and none is moved to this version."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from patchwright.workers.db.database import Database


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
