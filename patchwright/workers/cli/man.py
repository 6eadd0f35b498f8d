"""`patchwright man`."""

from importlib import import_module
from typing import Final

import typer

_MANUAL: Final = "patchwright.workers.cli.manual"


def register(app: typer.Typer) -> None:
    app.command("man")(_man)


def _man() -> None:
    """Print the manual page.

    To install it: patchwright man > ~/.local/share/man/man1/patchwright.1
    """
    typer.echo(import_module(_MANUAL).manual(), nl=False)
