"""`patchwright completion`: what makes a shell ask us at each press of Tab."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

import typer


class CompletionShell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


# They hand over what is typed as typer's own scripts do, and `cli/asked.py` reads it.
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
    shell: Annotated[CompletionShell, typer.Argument(help="The shell to print it for.")],
) -> None:
    """Print what makes a shell complete our commands at a press of Tab.

    In bash or zsh: eval "$(patchwright completion bash)". In fish:
    patchwright completion fish > ~/.config/fish/completions/patchwright.fish
    """
    typer.echo(_SCRIPTS[shell], nl=False)
