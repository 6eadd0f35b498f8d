"""Bring a database to the schema of this version."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import RevisionError
from sqlalchemy import text

from patchwright.core.errors import PatchwrightError
from patchwright.workers.db.database import Database

# Any number will do that no other user of the database takes.
_UPGRADE_LOCK = 7_305_116


class NewerSchemaError(PatchwrightError):
    """A later version has migrated the database."""

    reason = "newer-schema"


def upgrade(database: Database, to: str = "head") -> None:
    """Run the migrations that are missing, in one transaction.

    Processes that start at the same time take turns; the later ones find nothing to do.
    """
    with _migrations() as config, database.writing() as connection:
        config.attributes["connection"] = connection
        if not database.is_sqlite:
            lock = text("SELECT pg_advisory_xact_lock(:number)")
            connection.execute(lock, {"number": _UPGRADE_LOCK})
        command.upgrade(config, to)


def missing_migrations(database: Database) -> tuple[str, ...]:
    """Return what `upgrade` would run, oldest first; raises `NewerSchemaError`."""
    with _migrations() as config, database.reading() as connection:
        scripts = ScriptDirectory.from_config(config)
        now = MigrationContext.configure(connection).get_current_revision()
        try:
            missing = list(scripts.iterate_revisions("head", now or "base"))
        except RevisionError as error:
            words = f"the database is of a later version (its schema is {now})"
            raise NewerSchemaError(words) from error
    return tuple(one.revision for one in reversed(missing))


@contextmanager
def _migrations() -> Iterator[Config]:
    config = Config()
    with resources.as_file(resources.files("patchwright.workers.db")) as package:
        config.set_main_option("script_location", str(package / "migrations"))
        config.set_main_option("path_separator", "os")
        yield config
