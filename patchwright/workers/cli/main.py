"""The `patchwright` command."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Annotated, Final, NoReturn

import typer
from typer.completion import get_completion_inspect_parameters

from patchwright.core.errors import PatchwrightError, SettingsError
from patchwright.core.settings.environment import process_environment
from patchwright.workers.lifecycle import exit_now

COMPLETE: Final = "_PATCHWRIGHT_COMPLETE"
# What is typed so far, as the scripts of `completion` hand it over: the first in bash.
_TYPED: Final = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")


@dataclass(frozen=True)
class RequestedCommand:
    """The command's name, empty for none; with `completes` a shell wants words."""

    command: str
    completes: bool = False


def requested_command(argv: Sequence[str]) -> RequestedCommand:
    environment = process_environment()
    if not environment.get(COMPLETE):
        return RequestedCommand(_command_name(argv[1:]))
    typed = next((environment[one] for one in _TYPED if one in environment), "")
    return RequestedCommand(_command_name(typed.split()[1:]), completes=True)


def _command_name(words: Sequence[str]) -> str:
    return next((one for one in words if not one.startswith("-")), "")


WRONG_USAGE: Final = 2
FAILED: Final = 3
ABOUT: Final = "Turn a request into a proven pull request."

# A command's module, and what it is for. Only the one that is asked for is imported:
# neither a list of commands nor a run waits for the web framework.
_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "resolve": (
        "patchwright.workers.cli.run_commands",
        "Work on an issue, given by its URL, as a text file or in words.",
    ),
    "runs": (
        "patchwright.workers.cli.run_commands",
        "Look at the runs of the service and of this machine, and steer them.",
    ),
    "replay": (
        "patchwright.workers.cli.run_commands",
        "Show a recorded run, or run it again: offline, and at no cost.",
    ),
    "serve": (
        "patchwright.workers.cli.commands",
        "Run the service: webhooks in, pull requests out.",
    ),
    "doctor": (
        "patchwright.workers.cli.commands",
        "Check what the service needs, and say how to put right what is wrong.",
    ),
    "action": (
        "patchwright.workers.cli.commands",
        "Work as a step of the GitHub Action.",
    ),
    "db": ("patchwright.workers.cli.commands", "Look after the database."),
    "keys": (
        "patchwright.workers.cli.commands",
        "Look after the keys that stored secrets are encrypted with.",
    ),
    "completion": (
        "patchwright.workers.cli.commands",
        "Print what makes a shell complete our commands at a press of Tab.",
    ),
    "man": ("patchwright.workers.cli.commands", "Print the manual page."),
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
            getattr(import_module(module), f"register_{name}")(app)
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
        import_module("patchwright.workers.cli.terminal").log_to_stderr()
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
    import_module("patchwright.workers.cli.terminal").print_error(error)


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
