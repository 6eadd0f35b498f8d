"""Bring a database to the schema of this version."""

from importlib import resources

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from patchwright.workers.db.database import Database

# Any number will do that no other user of the database takes.
_UPGRADE_LOCK = 7_305_116


def upgrade(database: Database, to: str = "head") -> None:
    """Run the migrations that are missing, in one transaction.

    Processes that start at the same time take turns; the later ones find nothing to do.
    """
    config = Config()
    with (
        resources.as_file(resources.files("patchwright.workers.db")) as package,
        database.writing() as connection,
    ):
        config.set_main_option("script_location", str(package / "migrations"))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        if not database.is_sqlite:
            lock = text("SELECT pg_advisory_xact_lock(:number)")
            connection.execute(lock, {"number": _UPGRADE_LOCK})
        command.upgrade(config, to)
