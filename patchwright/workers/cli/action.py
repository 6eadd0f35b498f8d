"""`patchwright action`: the steps of the GitHub Action."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, cast

import typer

from patchwright.core.settings.environment import process_environment

_ACTION_RUN: Final = "patchwright.workers.action.run"


def register_action(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about_action)
    commands.command("run")(_action_run)
    app.add_typer(commands, name="action")


def _about_action() -> None:
    """Work as a step of the GitHub Action."""


def _action_run() -> None:
    """Work on what the workflow's event asks for; action.yml calls this."""
    run = cast("Callable[[Mapping[str, str]], None]", import_module(_ACTION_RUN).run)
    run(process_environment())
