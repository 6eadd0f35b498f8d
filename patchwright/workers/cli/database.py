"""`patchwright db`."""

from contextlib import closing
from pathlib import Path

import typer

from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.load import load
from patchwright.workers.compose import open_database
from patchwright.workers.db.upgrade import upgrade


def register(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about)
    commands.command("upgrade")(_upgrade)
    app.add_typer(commands, name="db")


def _about() -> None:
    """Look after the database."""


def _upgrade() -> None:
    """Bring the database to the schema of this version; `serve` does it too."""
    settings = load(process_environment(), flags={}, cwd=Path.cwd())
    with closing(open_database(settings)) as database:
        upgrade(database)
    typer.echo("The database is up to date.")
