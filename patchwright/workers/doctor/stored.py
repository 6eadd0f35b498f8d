"""What the service has stored, where a check can read it."""

from collections.abc import Iterator
from contextlib import contextmanager

from patchwright.core.settings.model import Settings
from patchwright.workers.db.database import Database
from patchwright.workers.db.existing import open_existing
from patchwright.workers.db.upgrade import missing_migrations


@contextmanager
def open_current_database(settings: Settings) -> Iterator[Database | None]:
    """Lend the database; None where it is not there yet, or of an earlier version."""
    with open_existing(settings.database.url.get_secret_value()) as database:
        is_ours = database is not None and not missing_migrations(database)
        yield database if is_ours else None
