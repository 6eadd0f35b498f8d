"""The commands that are not about runs, with their options."""

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any, Final

import typer

from patchwright.core.settings.environment import process_environment
from patchwright.workers.lifecycle import Role, exit_now

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
    app.command("doctor")(_doctor)
    about = "Work as a step of the GitHub Action."
    add_group(app, "action", about, {"run": _action_run})
    add_group(app, "db", "Look after the database.", {"upgrade": _db_upgrade})
    about = "Look after the keys that stored secrets are encrypted with."
    add_group(app, "keys", about, {"rotate": _keys_rotate})
    app.command("completion")(_completion)
    app.command("man")(_man)


def _serve(
    role: Annotated[Role, typer.Option(help="Which part of it.")] = Role.ALL,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Run the service: webhooks in, pull requests out."""
    flags = {"server.host": host, "server.port": port}
    exit_now(load_handler("cli.serve_handler", "serve_as")(role, flags))


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
    run = load_handler("cli.doctor_handler", "run_doctor")
    sys.exit(run(only or [], spends=spend, as_object=json_output))


def _action_run() -> None:
    """Work on what the workflow's event asks for; action.yml calls this."""
    load_handler("action.run", "run")(process_environment())


def _db_upgrade() -> None:
    """Bring the database to the schema of this version; `serve` does it too."""
    load_handler("cli.maintenance_handler", "upgrade_database")()


def _keys_rotate() -> None:
    """Encrypt every stored secret with the first of `security.encryption_keys`."""
    load_handler("cli.maintenance_handler", "rotate_keys")()


def _man() -> None:
    """Print the manual page.

    To install it: patchwright man > ~/.local/share/man/man1/patchwright.1
    """
    typer.echo(load_handler("cli.reference", "manual")(), nl=False)


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
