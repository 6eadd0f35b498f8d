"""`patchwright keys`: its commands; `upkeep` does what they say."""

from collections.abc import Callable
from importlib import import_module
from typing import Final, cast

import typer

_MAINTENANCE_HANDLER: Final = "patchwright.workers.cli.upkeep"


def register_keys(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about_keys)
    commands.command("rotate")(_keys_rotate)
    app.add_typer(commands, name="keys")


def _about_keys() -> None:
    """Look after the keys that stored secrets are encrypted with."""


def _keys_rotate() -> None:
    """Encrypt every stored secret with the first of `security.encryption_keys`."""
    cast("Callable[[], None]", import_module(_MAINTENANCE_HANDLER).rotate_keys)()
