"""`patchwright keys`."""

from contextlib import closing
from pathlib import Path

import typer

from patchwright.core.clock import SystemClock
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.load import load
from patchwright.resolver.messages.facts import counted
from patchwright.workers.compose import key_ring, open_database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.secrets import SecretStore


def register(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about)
    commands.command("rotate")(_rotate)
    app.add_typer(commands, name="keys")


def _about() -> None:
    """Look after the keys that stored secrets are encrypted with."""


def _rotate() -> None:
    """Encrypt every stored secret with the first of `security.encryption_keys`."""
    settings = load(process_environment(), flags={}, cwd=Path.cwd())
    with closing(open_database(settings)) as database:
        upgrade(database)
        keys = key_ring(settings, database)
        renewed = SecretStore(database, keys, SystemClock()).rotate()
    typer.echo(f"{counted(renewed, 'secret')} moved to the key {keys.current}.")
