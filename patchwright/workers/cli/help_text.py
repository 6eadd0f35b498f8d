"""The help of the commands: flags without a type, choices that no line breaks."""

import inspect
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from patchwright.core.types.errors import SettingsError

_HELP_MEANS: Final = "Show this help and exit."


class NamedArgument(TyperArgument):
    """An argument whose name says enough: its type is not shown."""

    def display_type_rich(self, ctx: object) -> None:  # noqa: ARG002 - as typer calls it
        return


def tidy_help(group: TyperGroup) -> None:
    """Write all commands alike, also those of inner groups, for people to read.

    Typer shows a type behind each flag and each argument, breaks the lines of a help
    where its source does, and has choices in a column that is too narrow for them: here
    they follow the meaning.
    """
    for context in walk_commands(group):
        command = context.command
        paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        command.help = "\n\n".join(" ".join(one.split()) for one in paragraphs)
        for one in command.params:
            _tidy_parameter(one)
        if option := command.get_help_option(context):
            _tidy_help_option(option, command.params)


def _tidy_parameter(one: object) -> None:
    if isinstance(one, TyperOption):
        one.metavar = "" if one.is_flag else one.metavar
        one.help = _with_choices(one)
    elif isinstance(one, TyperArgument):
        # Typer makes all of them itself, of one class.
        one.__class__ = NamedArgument
        one.help = _with_choices(one)


def _tidy_help_option(option: TyperOption, params: Sequence[object]) -> None:
    """Show it beside the last of the others."""
    option.metavar, option.help = "", _HELP_MEANS
    panels = (getattr(one, "rich_help_panel", None) for one in reversed(params))
    option.rich_help_panel = next(filter(None, panels), None)


def walk_commands(
    group: TyperGroup, context: typer.Context | None = None
) -> Iterator[typer.Context]:
    """Yield each command in the context it is called in, groups before their own."""
    settings = group.context_settings
    here = context or typer.Context(group, info_name="patchwright", **settings)
    yield here
    for found in group.commands.values():
        inner = typer.Context(found, info_name=found.name, parent=here)
        if isinstance(found, TyperGroup):
            yield from walk_commands(found, inner)
        else:
            yield inner


def help_of(program: typer.Context, words: Sequence[str]) -> str:
    """Return the help of the command with this name, such as `runs` and `list`."""
    here = program
    for word in words:
        known = here.command.commands if isinstance(here.command, TyperGroup) else {}
        if word not in known:
            raise SettingsError(_unknown_command(here.command_path, word, list(known)))
        here = typer.Context(known[word], info_name=word, parent=here)
    return here.get_help()


def _unknown_command(path: str, word: str, known: Sequence[str]) -> str:
    near = get_close_matches(word, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"`{path} -h` shows its help"
    return f"{path} has no command {word}; {hint}"


def _with_choices(parameter: TyperOption | TyperArgument) -> str:
    """Return what it means, and which values there are."""
    meaning = parameter.help or ""
    choices = parameter.type_descriptor.choices
    if not parameter.type_descriptor.is_choice or not choices:
        return meaning
    *first, last = (str(getattr(one, "value", one)) for one in choices)
    return f"{meaning} One of {', '.join(first)} or {last}."
