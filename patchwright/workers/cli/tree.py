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
class Word:
    """An argument or an option: how it is written, and what it means."""

    written: str
    meaning: str


@dataclass(frozen=True)
class Command:
    """One command; `usage` is its line without the program, `text` its paragraphs."""

    name: str
    usage: str
    text: tuple[str, ...]
    arguments: tuple[Word, ...]
    options: tuple[Word, ...]

    @property
    def summary(self) -> str:
        return self.text[0]


def read_commands() -> tuple[Command, ...]:
    """Return the program itself and then every command, with those of groups."""
    group = get_command(make_app(all_commands()))
    if not isinstance(group, TyperGroup):
        raise TypeError("a program with several commands is a group")
    return tuple(_walk(group, typer.Context(group, info_name=PROGRAM)))


def _walk(group: TyperGroup, context: typer.Context) -> Iterator[Command]:
    yield _read(context)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if found is None:
            continue
        inner = typer.Context(found, info_name=name, parent=context)
        if isinstance(found, TyperGroup):
            yield from _walk(found, inner)
        else:
            yield _read(inner)


def _read(context: typer.Context) -> Command:
    command = context.command
    words: dict[str, list[Word]] = {"argument": [], "option": []}
    for one in command.get_params(context):
        if record := one.get_help_record(context):
            meaning = " ".join(record[1].split())
            words[one.param_type_name].append(Word(record[0], meaning))
    paragraphs = (command.help or "").strip().split("\n\n")
    return Command(
        name=context.command_path,
        usage=" ".join([context.command_path, *command.collect_usage_pieces(context)]),
        text=tuple(" ".join(one.split()) for one in paragraphs),
        arguments=tuple(words["argument"]),
        options=tuple(words["option"]),
    )
