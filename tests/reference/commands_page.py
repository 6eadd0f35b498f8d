"""Write `docs/commands.md`, the reference of what people may say to a run."""

from typing import Final

from patchwright.core.commands import Verb, definition_of, help_text

_ABOUT: Final = """\
# Commands

A command stands after the mention, in every service. It stands alone but for a
courtesy (`stop it, please`); anything else is a request, and while a run works that
reaches the agent. This is what `help` shows:
"""
_TABLE: Final = """\
| command | what may follow | while a run works | while none works | who may |
|---|---|---|---|---|"""


def page() -> str:
    quoted = [f"> {line}".rstrip() for line in help_text("@patchwright").splitlines()]
    return "\n".join([_ABOUT, *quoted, "", _TABLE, *map(_row, Verb)]) + "\n"


def _row(verb: Verb) -> str:
    command = definition_of(verb)
    cells = (
        f"`{verb}`",
        command.argument,
        command.while_running.words,
        command.when_idle.words,
        command.access,
    )
    return f"| {' | '.join(cells)} |"
