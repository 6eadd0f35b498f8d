"""The commands that are not about runs, with their options."""

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Final, cast

import typer

from patchwright.core.settings.environment import process_environment
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


# They hand over what is typed as typer's own scripts do, and `cli/main.py` reads it.
_BASH: Final = """\
# In ~/.bashrc: eval "$(patchwright completion bash)"
_patchwright() {
    local IFS=$'\\n'
    COMPREPLY=($(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD \\
        _PATCHWRIGHT_COMPLETE=complete_bash "$1" 2>/dev/null))
}
complete -o default -F _patchwright patchwright
"""
# It works from a file `_patchwright` in $fpath as well, where its first call is a Tab.
_ZSH: Final = """\
#compdef patchwright
# In ~/.zshrc, after compinit: eval "$(patchwright completion zsh)"
_patchwright() {
    eval "$(_TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" \\
        _PATCHWRIGHT_COMPLETE=complete_zsh patchwright 2>/dev/null)"
}
if [[ $funcstack[1] == _patchwright ]]; then
    _patchwright "$@"
else
    compdef _patchwright patchwright
fi
"""
_FISH: Final = """\
# patchwright completion fish > ~/.config/fish/completions/patchwright.fish
function __patchwright
    set -lx _PATCHWRIGHT_COMPLETE complete_fish
    set -lx _TYPER_COMPLETE_ARGS (commandline --cut-at-cursor --current-process)
    set -lx _TYPER_COMPLETE_FISH_ACTION $argv[1]
    patchwright 2>/dev/null
end
complete --command patchwright --no-files --arguments '(__patchwright get-args)' \\
    --condition '__patchwright is-args'
"""
_SCRIPTS: Final[Mapping[CompletionShell, str]] = {
    CompletionShell.BASH: _BASH,
    CompletionShell.ZSH: _ZSH,
    CompletionShell.FISH: _FISH,
}


def register_completion(app: typer.Typer) -> None:
    app.command("completion")(_completion)


def _completion(
    shell: Annotated[
        CompletionShell, typer.Argument(help="The shell to print it for.")
    ],
) -> None:
    """Print what makes a shell complete our commands at a press of Tab.

    In bash or zsh: eval "$(patchwright completion bash)". In fish:
    patchwright completion fish > ~/.config/fish/completions/patchwright.fish
    """
    typer.echo(_SCRIPTS[shell], nl=False)
