"""Look after database and keys from the command line."""

from contextlib import closing

import typer

from patchwright.core.clock import SystemClock
from patchwright.core.settings.here import load_here
from patchwright.resolver.messages.facts import counted
from patchwright.workers.compose import key_ring, open_database
from patchwright.workers.db.errors import in_words
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.secrets import SecretStore


def upgrade_database() -> None:
    with closing(open_database(load_here())) as database:
        upgrade(database)
    typer.echo("The database is up to date.")


def rotate_keys() -> None:
    settings = load_here()
    with closing(open_database(settings)) as database, in_words():
        upgrade(database)
        keys = key_ring(settings, database)
        renewed = SecretStore(database, keys, SystemClock()).rotate()
    typer.echo(f"{counted(renewed, 'secret')} moved to the key {keys.current}.")
