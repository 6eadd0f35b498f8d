"""The commands that are not about runs, with their options."""

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.completion import get_completion_inspect_parameters, shell_complete

from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.names import UNTIL
from patchwright.core.types.purpose import Purpose
from patchwright.workers.ops.lifecycle import ProcessRole, exit_now

_FORMER_ROLE: Final = "beat"
_RENAMED_ROLE: Final = (
    f"--role {_FORMER_ROLE} is now --role {ProcessRole.SCHEDULER}; {UNTIL}"
)
# Set by a shell that completes what is typed.
COMPLETE: Final = "_PATCHWRIGHT_COMPLETE"

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]


def load_handler(module: str, function: str) -> Callable[..., Any]:
    """Import what carries a command out: a shell that completes does not wait."""
    found: Callable[..., Any] = getattr(
        import_module(f"patchwright.workers.{module}"), function
    )
    return found


def add_group(
    app: typer.Typer, name: str, about: str, commands: Mapping[str, Callable[..., None]]
) -> None:
    group = typer.Typer(no_args_is_help=True, help=about)
    for command, function in commands.items():
        group.command(command)(function)
    app.add_typer(group, name=name)


def add_commands(app: typer.Typer) -> None:
    app.command("serve")(_serve)
    app.command("setup-link")(_setup_link)
    app.command("doctor")(_doctor)
    app.command("spend")(_spend)
    about = "Run in a job of GitHub Actions or GitLab CI."
    commands = {"run": _action_run, "report": _action_report}
    add_group(app, "action", about, commands)
    add_group(app, "db", "Maintain the database.", {"upgrade": _db_upgrade})
    about = "Maintain the keys that encrypt stored secrets."
    add_group(app, "keys", about, {"rotate": _keys_rotate})
    app.command("completion")(_completion)
    app.command("man")(_man)
    app.command("help")(_help)


_ROLES: Final = ", ".join(ProcessRole)


def _read_role(text: str) -> ProcessRole:
    """Return the role, and tell what it is called now where that is a former name."""
    if text == _FORMER_ROLE:
        typer.echo(f"warning: {_RENAMED_ROLE}", err=True)
        return ProcessRole.SCHEDULER
    try:
        return ProcessRole(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is none of {_ROLES}") from None


def _complete_role(incomplete: str) -> list[str]:
    return [one for one in ProcessRole if one.startswith(incomplete)]


def _serve(
    role: Annotated[
        ProcessRole,
        typer.Option(
            parser=_read_role,
            metavar="ROLE",
            autocompletion=_complete_role,
            help="Which part of the service to run: all, web, worker or scheduler.",
        ),
    ] = ProcessRole.ALL,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen on.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Port to listen on.")
    ] = None,
) -> None:
    """Run the service: webhooks in, pull requests out."""
    flags = {"server.host": host, "server.port": port}
    exit_now(load_handler("cli.serve_handler", "serve_as")(role, flags))


def _setup_link() -> None:
    """Print a new link to create the service's GitHub App in a browser."""
    load_handler("cli.setup_link_handler", "print_setup_link")()


def _doctor(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Run only this check, or all checks of a service; can be repeated.",
        ),
    ] = None,
    purpose: Annotated[
        Purpose | None,
        typer.Option(
            "--for",
            metavar="COMMAND",
            help="Check only what this command needs; without it, both.",
        ),
    ] = None,
    spend: Annotated[
        bool, typer.Option("--spend", help="Call the model once, which costs money.")
    ] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Check what `resolve` and `serve` need, and say how to fix each problem."""
    run = load_handler("cli.doctor_handler", "run_doctor")
    sys.exit(run(only or [], purpose, spends=spend, as_object=json_output))


def _spend(
    days: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="How many days, today being the last one."),
    ] = 30,
    json_output: AsJson = False,
) -> None:
    """Show what the service has spent by day, repository and person, and its limits."""
    load_handler("cli.spend_handler", "print_spend")(days, as_object=json_output)


def _action_run() -> None:
    """Work on what the event or the variables of the job ask for, and report it."""
    sys.exit(load_handler("action.run", "run_job")(process_environment()))


def _action_report() -> None:
    """Report a run that was killed or cancelled, and clean up after the job."""
    load_handler("action.run", "close_job")(process_environment())


def _db_upgrade() -> None:
    """Upgrade the database to this version's schema; `serve` does it too."""
    load_handler("cli.maintenance_handler", "upgrade_database")()


def _keys_rotate() -> None:
    """Encrypt all stored secrets with the first of `security.encryption_keys`."""
    load_handler("cli.maintenance_handler", "rotate_keys")()


def _man() -> None:
    """Print the manual page.

    To install it: patchwright man > ~/.local/share/man/man1/patchwright.1
    """
    typer.echo(load_handler("cli.reference", "manual")(), nl=False)


def _help(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="The command, such as `runs list`."),
    ] = None,
) -> None:
    """Show the help of a command, or of the program."""
    program = context.find_root()
    typer.echo(load_handler("cli.help_text", "help_of")(program, words or ()))


class CompletionShell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def _completion(
    context: typer.Context,
    shell: Annotated[
        CompletionShell,
        typer.Argument(metavar="SHELL", help="The shell that completes the commands."),
    ],
) -> None:
    """Print a script that lets a shell complete commands with Tab.

    In bash or zsh: eval "$(patchwright completion bash)". In fish:
    patchwright completion fish > ~/.config/fish/completions/patchwright.fish
    """
    # It makes the shells known, for a typer without options of its own for them.
    get_completion_inspect_parameters()
    shell_complete(context.command, {}, "patchwright", COMPLETE, f"source_{shell}")
