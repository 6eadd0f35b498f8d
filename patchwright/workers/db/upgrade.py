"""Bring a database to the schema of this version."""

from functools import cache
from importlib import import_module, resources
from typing import TYPE_CHECKING, Final

import structlog
from sqlalchemy import Connection, inspect, text

from patchwright.workers.db.database import Database, database_errors

if TYPE_CHECKING:
    from alembic.config import Config

# Any number will do that no other user of the database takes.
_UPGRADE_LOCK: Final = 7_305_116

log = structlog.get_logger(__name__)


def upgrade(database: Database, to: str = "head") -> None:
    """Run the migrations that are missing, in one transaction.

    Processes that start at the same time take turns; the later ones find nothing to do.
    Raises `DatabaseUnavailableError`.
    """
    with database_errors(), database.writing() as connection:
        if not database.is_sqlite:
            lock = text("SELECT pg_advisory_xact_lock(:number)")
            connection.execute(lock, {"number": _UPGRADE_LOCK})
        schema, known = _current_schema(connection), _known_schemas()
        if schema not in known:
            # Migrations only add, so that the version before can go on with it.
            log.warning("schema_of_a_later_version", schema=schema)
        elif schema != known[-1]:
            _migrate(connection, to)


def _migrate(connection: Connection, to: str) -> None:
    """Run what is missing with Alembic, whose 12 MB nothing else needs."""
    command, config = import_module("alembic.command"), import_module("alembic.config")
    options: Config = config.Config()
    options.attributes["connection"] = connection
    with resources.as_file(resources.files("patchwright.workers.db")) as package:
        options.set_main_option("script_location", str(package / "migrations"))
        options.set_main_option("path_separator", "os")
        command.upgrade(options, to)


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
    """Return all schemas, oldest first; an empty database is the first of them.

    Their numbers begin the names of the migrations' files.
    """
    versions = resources.files("patchwright.workers.db") / "migrations" / "versions"
    names = (file.name for file in versions.iterdir() if file.name.endswith(".py"))
    return ("", *sorted(name.partition("_")[0] for name in names))


def _current_schema(connection: Connection) -> str:
    if not inspect(connection).has_table("alembic_version"):
        return ""
    found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found or ""
