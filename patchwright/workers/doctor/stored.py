"""Look into the database as it is: nothing is made, moved or written."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import make_url

from patchwright.core.settings.model import Settings
from patchwright.workers.db.database import Database


@contextmanager
def opened(settings: Settings) -> Iterator[Database | None]:
    """Lend the database; None where `serve` has not made one yet."""
    url = settings.database.url.get_secret_value()
    file = sqlite_file(settings)
    if file is not None and not file.exists():
        yield None
        return
    with closing(Database(url)) as database:
        yield database


def sqlite_file(settings: Settings) -> Path | None:
    """Return the file of the database, None where it is a server's."""
    url = settings.database.url.get_secret_value()
    if not url.startswith("sqlite:"):
        return None
    return Path(make_url(url).database or "")
