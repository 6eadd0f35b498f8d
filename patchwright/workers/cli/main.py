"""The `patchwright` command."""

import sys
from collections.abc import Sequence
from importlib import import_module, metadata
from typing import Annotated, Final, NoReturn

import typer
from typer.completion import get_completion_inspect_parameters
from typer.core import TyperGroup
from typer.main import get_command

from patchwright.core.settings.environment import process_environment
from patchwright.core.types.errors import (
    PatchwrightError,
    SettingsError,
    WrongMomentError,
)
from patchwright.workers.cli.commands import COMPLETE, add_commands
from patchwright.workers.cli.help_text import tidy_help
from patchwright.workers.cli.run_commands import add_run_commands
from patchwright.workers.ops.lifecycle import exit_now

NOT_NOW: Final = 1
WRONG_USAGE: Final = 2
FAILED: Final = 3
ABOUT: Final = "Turn a request into a proven pull request."

# As `--help` lists them; typer would list the groups first.
_COMMANDS: Final = (
    *("resolve", "prove", "runs", "spend", "replay", "serve", "setup-link", "doctor"),
    *("action", "db", "keys", "completion", "man", "help"),
)


def main() -> NoReturn:
    """Run the command line of this process, and end it."""
    try:
        _run(sys.argv[1:])
    except SystemExit as ending:
        exit_now(ending.code if isinstance(ending.code, int) else 0)
    exit_now(0)


def make_app() -> TyperGroup:
    """Return the command line. Each command imports its own code when it runs.

    So neither the help nor a run waits for the web framework.
    """
    app = typer.Typer(
        help=ABOUT,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_about)
    add_run_commands(app)
    add_commands(app)
    group = get_command(app)
    if not isinstance(group, TyperGroup):
        raise TypeError("a program with several commands is a group")
    group.commands = {name: group.commands[name] for name in _COMMANDS}
    tidy_help(group)
    return group


def _run(arguments: Sequence[str]) -> None:
    if process_environment().get(COMPLETE):
        # It makes the shells known, for a typer without options of its own for them.
        get_completion_inspect_parameters()
    elif not all(one.startswith("-") for one in arguments):
        import_module("patchwright.workers.cli.terminal").log_to_stderr()
    try:
        make_app()(prog_name="patchwright")
    except PatchwrightError as error:
        import_module("patchwright.workers.cli.terminal").print_error(error)
        sys.exit(_exit_code(error))


def _exit_code(error: PatchwrightError) -> int:
    match error:
        case SettingsError():
            return WRONG_USAGE
        case WrongMomentError():
            return NOT_NOW
        case _:
            return FAILED


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - as typer calls it
    if wanted:
        typer.echo(f"patchwright {metadata.version('patchwright')}")
        raise typer.Exit


def _about(
    *,
    version: Annotated[
        bool,
        typer.Option(
            *("--version", "-V"),
            help="Show the version and exit.",
            callback=_say_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Turn a request into a proven pull request."""
