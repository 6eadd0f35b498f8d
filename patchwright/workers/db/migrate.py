"""Run migrations; loaded only where there are some, since Alembic takes 12 MB."""

from importlib import resources

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def migrate(connection: Connection, to: str) -> None:
    """Run the migrations that are missing up to a schema, in the open transaction."""
    config = Config()
    config.attributes["connection"] = connection
    with resources.as_file(resources.files("patchwright.workers.db")) as package:
        config.set_main_option("script_location", str(package / "migrations"))
        config.set_main_option("path_separator", "os")
        command.upgrade(config, to)
