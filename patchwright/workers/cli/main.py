"""The `patchwright` command."""

import sys
from collections.abc import Mapping
from importlib import import_module, metadata
from typing import Annotated, Final, NoReturn

import typer
from typer.completion import get_completion_inspect_parameters

from patchwright.core.errors import PatchwrightError, SettingsError
from patchwright.workers.cli.asked import RequestedCommand, requested_command
from patchwright.workers.leaving import exit_now

WRONG_USAGE: Final = 2
FAILED: Final = 3
ABOUT: Final = "Turn a request into a proven pull request."

# A command's module, and what it is for. Only the one that is asked for is imported:
# neither a list of commands nor a run waits for the web framework.
_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "resolve": (
        "patchwright.workers.cli.resolve",
        "Work on an issue, given by its URL, as a text file or in words.",
    ),
    "runs": (
        "patchwright.workers.cli.runs",
        "Look at the runs of the service and of this machine, and steer them.",
    ),
    "replay": (
        "patchwright.workers.cli.replay",
        "Show a recorded run, or run it again: offline, and at no cost.",
    ),
    "serve": (
        "patchwright.workers.cli.serve",
        "Run the service: webhooks in, pull requests out.",
    ),
    "doctor": (
        "patchwright.workers.cli.doctor",
        "Check what the service needs, and say how to put right what is wrong.",
    ),
    "action": (
        "patchwright.workers.cli.action",
        "Work as a step of the GitHub Action.",
    ),
    "db": ("patchwright.workers.cli.database", "Look after the database."),
    "keys": (
        "patchwright.workers.cli.keys",
        "Look after the keys that stored secrets are encrypted with.",
    ),
    "completion": (
        "patchwright.workers.cli.completion",
        "Print what makes a shell complete our commands at a press of Tab.",
    ),
    "man": ("patchwright.workers.cli.man", "Print the manual page."),
}


def main() -> NoReturn:
    """Run the command line of this process, and end it."""
    try:
        _run(requested_command(sys.argv))
    except SystemExit as ending:
        exit_now(ending.code if isinstance(ending.code, int) else 0)
    exit_now(0)


def make_app(names: frozenset[str]) -> typer.Typer:
    """Return the command line with the commands of those names, and stubs of others."""
    app = typer.Typer(
        help=ABOUT,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_about)
    for name, (module, about) in _COMMANDS.items():
        if name in names:
            import_module(module).register(app)
        else:
            app.command(name, help=about)(_placeholder)
    return app


def all_commands() -> frozenset[str]:
    return frozenset(_COMMANDS)


def _run(asked: RequestedCommand) -> None:
    named = frozenset({asked.command}) & _COMMANDS.keys()
    if asked.completes:
        # It makes the shells known, for a typer without options of its own for them.
        get_completion_inspect_parameters()
    elif named:
        import_module("patchwright.workers.cli.complaints").log_to_stderr()
    app = make_app(named)
    try:
        app(prog_name="patchwright")
    except SettingsError as error:
        _print_error(error)
        sys.exit(WRONG_USAGE)
    except PatchwrightError as error:
        _print_error(error)
        sys.exit(FAILED)


def _print_error(error: PatchwrightError) -> None:
    import_module("patchwright.workers.cli.complaints").print_error(error)


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - as typer calls it
    if wanted:
        typer.echo(f"patchwright {metadata.version('patchwright')}")
        raise typer.Exit


def _about(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_say_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Turn a request into a proven pull request."""


def _placeholder() -> None:
    """Stand in the list of commands for one that nobody has asked for."""
