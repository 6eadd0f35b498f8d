"""`patchwright action`: the steps of the GitHub Action."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, cast

import typer

from patchwright.core.settings.environment import process_environment

_RUN: Final = "patchwright.workers.action.run"


def register(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about)
    commands.command("run")(_run)
    app.add_typer(commands, name="action")


def _about() -> None:
    """Work as a step of the GitHub Action."""


def _run() -> None:
    """Work on what the workflow's event asks for; action.yml calls this."""
    run = cast("Callable[[Mapping[str, str]], None]", import_module(_RUN).run)
    run(process_environment())
