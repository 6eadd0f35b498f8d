"""Which command is asked for, known before any of them is imported."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.settings.environment import process_environment

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
