"""`patchwright db`: its commands; `upkeep` does what they say."""

from collections.abc import Callable
from importlib import import_module
from typing import Final, cast

import typer

_MAINTENANCE_HANDLER: Final = "patchwright.workers.cli.upkeep"


def register_db(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about_db)
    commands.command("upgrade")(_db_upgrade)
    app.add_typer(commands, name="db")


def _about_db() -> None:
    """Look after the database."""


def _db_upgrade() -> None:
    """Bring the database to the schema of this version; `serve` does it too."""
    cast("Callable[[], None]", import_module(_MAINTENANCE_HANDLER).upgrade_database)()
