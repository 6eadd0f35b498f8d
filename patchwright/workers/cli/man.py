"""`patchwright man`."""

from importlib import import_module
from typing import Final

import typer

_REFERENCE: Final = "patchwright.workers.cli.manual"


def register_man(app: typer.Typer) -> None:
    app.command("man")(_man)


def _man() -> None:
    """Print the manual page.

    To install it: patchwright man > ~/.local/share/man/man1/patchwright.1
    """
    typer.echo(import_module(_REFERENCE).manual(), nl=False)
