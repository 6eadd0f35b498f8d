"""Bring a database to the schema of this version."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources

import structlog
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from patchwright.workers.db.database import Database, database_errors

# Any number will do that no other user of the database takes.
_UPGRADE_LOCK = 7_305_116

log = structlog.get_logger(__name__)


def upgrade(database: Database, to: str = "head") -> None:
    """Run the migrations that are missing, in one transaction.

    Processes that start at the same time take turns; the later ones find nothing to do.
    Raises `DatabaseUnavailableError`.
    """
    with _migrations() as config, database_errors(), database.writing() as connection:
        config.attributes["connection"] = connection
        if not database.is_sqlite:
            lock = text("SELECT pg_advisory_xact_lock(:number)")
            connection.execute(lock, {"number": _UPGRADE_LOCK})
        schema, known = _current_schema(connection), _known_schemas()
        if schema not in known:
            # Migrations only add, so that the version before can go on with it.
            log.warning("schema_of_a_later_version", schema=schema)
        elif schema != known[-1]:
            command.upgrade(config, to)


def missing_migrations(database: Database) -> tuple[str, ...]:
    """Return what `upgrade` would run, oldest first."""
    known = _known_schemas()
    with database.reading() as connection:
        schema = _current_schema(connection)
    return known[known.index(schema) + 1 :] if schema in known else ()


def later_schema(database: Database) -> str:
    """Return the schema where only a later version knows it, else an empty text."""
    with database.reading() as connection:
        schema = _current_schema(connection)
    return "" if schema in _known_schemas() else schema


@cache
def _known_schemas() -> tuple[str, ...]:
    """Return all schemas, oldest first; an empty database is the first of them."""
    with _migrations() as config:
        scripts = list(ScriptDirectory.from_config(config).walk_revisions())
    return ("", *reversed([one.revision for one in scripts]))


def _current_schema(connection: Connection) -> str:
    return MigrationContext.configure(connection).get_current_revision() or ""


@contextmanager
def _migrations() -> Iterator[Config]:
    config = Config()
    with resources.as_file(resources.files("patchwright.workers.db")) as package:
        config.set_main_option("script_location", str(package / "migrations"))
        config.set_main_option("path_separator", "os")
        yield config
