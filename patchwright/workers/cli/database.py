"""`patchwright db`: its commands; `upkeep` does what they say."""

from collections.abc import Callable
from importlib import import_module
from typing import Final, cast

import typer

_UPKEEP: Final = "patchwright.workers.cli.upkeep"


def register(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about)
    commands.command("upgrade")(_upgrade)
    app.add_typer(commands, name="db")


def _about() -> None:
    """Look after the database."""


def _upgrade() -> None:
    """Bring the database to the schema of this version; `serve` does it too."""
    cast("Callable[[], None]", import_module(_UPKEEP).upgrade_database)()
