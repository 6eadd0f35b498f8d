"""The `patchwright` command."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Final, NoReturn

import structlog
import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.errors import PatchwrightError, SettingsError
from patchwright.workers.stopping import leave

WRONG_USAGE: Final = 2
FAILED: Final = 3

# Only the module of the command that is asked for is imported: a run on the command
# line does not wait for the web framework.
_COMMANDS: Final[Mapping[str, str]] = {
    "resolve": "patchwright.workers.cli.resolve",
    "replay": "patchwright.workers.cli.replay",
    "serve": "patchwright.workers.cli.serve",
    "db": "patchwright.workers.cli.database",
    "keys": "patchwright.workers.cli.keys",
}


def main() -> NoReturn:
    """Run the command line of this process, and end it."""
    try:
        _run()
    except SystemExit as ending:
        leave(ending.code if isinstance(ending.code, int) else 0)
    leave(0)


def _run() -> None:
    # Until a command sets up logging: what goes wrong, on standard error.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    app = typer.Typer(
        help="Turn a request into a proven pull request.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_about)
    for module in _modules(sys.argv[1:]):
        import_module(module).register(app)
    try:
        app()
    except SettingsError as error:
        _complain(error)
        sys.exit(WRONG_USAGE)
    except PatchwrightError as error:
        _complain(error)
        sys.exit(FAILED)


def _about() -> None:
    """Turn a request into a proven pull request."""


def _modules(arguments: list[str]) -> list[str]:
    named = next((one for one in arguments if not one.startswith("-")), "")
    return [_COMMANDS[named]] if named in _COMMANDS else list(_COMMANDS.values())


def _complain(error: PatchwrightError) -> None:
    Console(stderr=True).print(Text.assemble(("error: ", "bold red"), str(error)))
