"""Look after database and keys from the command line."""

from contextlib import closing

import typer

from patchwright.core.system.clock import SystemClock
from patchwright.core.text.strings import count_noun
from patchwright.workers.cli.terminal import load_command_settings
from patchwright.workers.compose import open_database
from patchwright.workers.db.database import database_errors
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.secrets import SecretStore, key_ring


def upgrade_database() -> None:
    with closing(open_database(load_command_settings())) as database:
        upgrade(database)
    typer.echo("The database is up to date.")


def rotate_keys() -> None:
    settings = load_command_settings()
    with closing(open_database(settings)) as database, database_errors():
        upgrade(database)
        keys = key_ring(settings, database)
        renewed = SecretStore(database, keys, SystemClock()).rotate()
    typer.echo(f"{count_noun(renewed, 'secret')} moved to the key {keys.current}.")
