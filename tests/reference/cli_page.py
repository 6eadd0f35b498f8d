"""Write `docs/cli-reference.md`, the reference of all commands."""

from collections.abc import Sequence
from typing import Final

from patchwright.workers.cli.reference import CommandHelp, ParameterHelp, read_commands

_ABOUT: Final = """\
# Commands

This page is generated from the command line; `patchwright COMMAND --help` shows the
same. [The guide](cli.md) says how to use it.
"""
_HELP: Final = "--help"


def page() -> str:
    return "\n".join([_ABOUT, *map(_section, read_commands())])


def _section(command: CommandHelp) -> str:
    options = [one for one in command.options if not one.written.endswith(_HELP)]
    parts = [
        f"## `{command.name}`",
        "\n\n".join(_escaped(one) for one in command.text),
        f"```text\n{command.usage}\n```",
        _table("argument", command.arguments),
        _table("option", options),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(kind: str, words: Sequence[ParameterHelp]) -> str:
    if not words:
        return ""
    rows = [f"| {_code(one.written)} | {_escaped(one.meaning)} |" for one in words]
    return "\n".join([f"| {kind} | meaning |", "|---|---|", *rows])


def _code(text: str) -> str:
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`"


def _escaped(text: str) -> str:
    """Keep words from being read as HTML or as the border of a cell."""
    return text.replace("<", "&lt;").replace("|", "\\|")
