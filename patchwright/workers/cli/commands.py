"""The commands that are not about runs, with their options."""

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Final, cast

import typer
from typer.completion import get_completion_inspect_parameters, shell_complete

from patchwright.core.settings.environment import process_environment
from patchwright.workers.cli.main import COMPLETE
from patchwright.workers.lifecycle import Role, exit_now

_SERVE_HANDLER: Final = "patchwright.workers.cli.serve_handler"


def register_serve(app: typer.Typer) -> None:
    app.command("serve")(_serve)


def _serve(
    role: Annotated[Role, typer.Option(help="Which part of it.")] = Role.ALL,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Run the service: webhooks in, pull requests out."""
    flags = {"server.host": host, "server.port": port}
    serve_as = cast(
        "Callable[[Role, Mapping[str, object]], int]",
        import_module(_SERVE_HANDLER).serve_as,
    )
    exit_now(serve_as(role, flags))


_DOCTOR_HANDLER: Final = "patchwright.workers.cli.doctor_handler"


def register_doctor(app: typer.Typer) -> None:
    app.command("doctor")(_doctor)


def _doctor(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="This check, or all of a service; repeat."),
    ] = None,
    spend: Annotated[
        bool, typer.Option("--spend", help="Ask the model one thing, for real.")
    ] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Check what the service needs, and say how to put right what is wrong."""
    run_doctor = cast("Callable[..., int]", import_module(_DOCTOR_HANDLER).run_doctor)
    sys.exit(run_doctor(only or [], spends=spend, as_object=json_output))


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


_MAINTENANCE_HANDLER: Final = "patchwright.workers.cli.maintenance_handler"


def register_db(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about_db)
    commands.command("upgrade")(_db_upgrade)
    app.add_typer(commands, name="db")


def _about_db() -> None:
    """Look after the database."""


def _db_upgrade() -> None:
    """Bring the database to the schema of this version; `serve` does it too."""
    cast("Callable[[], None]", import_module(_MAINTENANCE_HANDLER).upgrade_database)()


def register_keys(app: typer.Typer) -> None:
    commands = typer.Typer(no_args_is_help=True)
    commands.callback()(_about_keys)
    commands.command("rotate")(_keys_rotate)
    app.add_typer(commands, name="keys")


def _about_keys() -> None:
    """Look after the keys that stored secrets are encrypted with."""


def _keys_rotate() -> None:
    """Encrypt every stored secret with the first of `security.encryption_keys`."""
    cast("Callable[[], None]", import_module(_MAINTENANCE_HANDLER).rotate_keys)()


_REFERENCE: Final = "patchwright.workers.cli.reference"


def register_man(app: typer.Typer) -> None:
    app.command("man")(_man)


def _man() -> None:
    """Print the manual page.

    To install it: patchwright man > ~/.local/share/man/man1/patchwright.1
    """
    typer.echo(import_module(_REFERENCE).manual(), nl=False)


class CompletionShell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def register_completion(app: typer.Typer) -> None:
    app.command("completion")(_completion)


def _completion(
    context: typer.Context,
    shell: Annotated[
        CompletionShell, typer.Argument(help="The shell to print it for.")
    ],
) -> None:
    """Print what makes a shell complete our commands at a press of Tab.

    In bash or zsh: eval "$(patchwright completion bash)". In fish:
    patchwright completion fish > ~/.config/fish/completions/patchwright.fish
    """
    # It makes the shells known, for a typer without options of its own for them.
    get_completion_inspect_parameters()
    shell_complete(context.command, {}, "patchwright", COMPLETE, f"source_{shell}")
