"""All commands with their options, read from the command line itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from patchwright.workers.cli.main import all_commands, make_app

PROGRAM: Final = "patchwright"


@dataclass(frozen=True)
class ParameterHelp:
    """An argument or an option: how it is written, and what it means."""

    written: str
    meaning: str


@dataclass(frozen=True)
class CommandHelp:
    """One command; `usage` is its line without the program, `text` its paragraphs."""

    name: str
    usage: str
    text: tuple[str, ...]
    arguments: tuple[ParameterHelp, ...]
    options: tuple[ParameterHelp, ...]

    @property
    def summary(self) -> str:
        return self.text[0]


def read_commands() -> tuple[CommandHelp, ...]:
    """Return the program itself and then every command, with those of groups."""
    group = get_command(make_app(all_commands()))
    if not isinstance(group, TyperGroup):
        raise TypeError("a program with several commands is a group")
    return tuple(_walk_commands(group, typer.Context(group, info_name=PROGRAM)))


def _walk_commands(group: TyperGroup, context: typer.Context) -> Iterator[CommandHelp]:
    yield _read_command(context)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if found is None:
            continue
        inner = typer.Context(found, info_name=name, parent=context)
        if isinstance(found, TyperGroup):
            yield from _walk_commands(found, inner)
        else:
            yield _read_command(inner)


def _read_command(context: typer.Context) -> CommandHelp:
    command = context.command
    words: dict[str, list[ParameterHelp]] = {"argument": [], "option": []}
    for one in command.get_params(context):
        if record := one.get_help_record(context):
            meaning = " ".join(record[1].split())
            words[one.param_type_name].append(ParameterHelp(record[0], meaning))
    paragraphs = (command.help or "").strip().split("\n\n")
    return CommandHelp(
        name=context.command_path,
        usage=" ".join([context.command_path, *command.collect_usage_pieces(context)]),
        text=tuple(" ".join(one.split()) for one in paragraphs),
        arguments=tuple(words["argument"]),
        options=tuple(words["option"]),
    )
