"""The reference of all commands, as a page of the documentation and a manual page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import typer
from typer.core import TyperGroup

from patchwright.workers.cli.help_text import walk_commands
from patchwright.workers.cli.main import ABOUT, make_app

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
    examples: tuple[str, ...]

    @property
    def summary(self) -> str:
        return self.text[0]


def read_commands() -> tuple[CommandHelp, ...]:
    """Return the program itself and then every command, with those of groups."""
    return tuple(
        _read_command(one)
        # Groups and their commands come last.
        for one in sorted(walk_commands(make_app()), key=_is_of_group)
    )


def _is_of_group(context: typer.Context) -> bool:
    if context.parent is None:
        return False
    return context.parent.parent is not None or isinstance(context.command, TyperGroup)


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
        examples=tuple(
            line.strip() for line in (command.epilog or "").splitlines()[1:]
        ),
    )


_HELP: Final = "--help"
_DESCRIPTION: Final = (
    "Patchwright turns a request made where people work into a proven pull request. "
    "On the command line it works on an issue or pull request of a forge, or on a task "
    "as text in a checkout on this machine. It also runs and maintains the service "
    "that takes requests from GitHub or GitLab, Slack, Jira and Linear."
)
_SETTINGS: Final = (
    "Settings are read from flags, then from the environment "
    "(PATCHWRIGHT_SECTION__KEY, and LLM_MODEL, LLM_API_KEY, LLM_BASE_URL, LOG_JSON), "
    "then from files. The first file is the one that --config or PATCHWRIGHT_CONFIG "
    "names, or else patchwright.toml in the current folder; the second one is "
    "~/.config/patchwright/config.toml. The first place that has a value wins. A "
    "secret can be read from a file: add _FILE to the name of its variable. If the "
    "settings have no token for the forge, resolve takes the token of the forge's own "
    "command-line tool. It is read from the tool's variables, or asked from the tool "
    "if you have logged in there. NO_COLOR turns colours off."
)
_EXITS: Final = (
    ParameterHelp(
        "0",
        "The run was resolved or answered, its plan was posted, or the change is "
        "proven.",
    ),
    ParameterHelp(
        "1", "The run or the proof ended in another way, but nothing failed."
    ),
    ParameterHelp("2", "Wrong usage, or a wrong setting; the message says what to do."),
    ParameterHelp("3", "A service, the model or the sandbox failed."),
    ParameterHelp("130", "You stopped watching a run; the run continues."),
)
_FILES: Final = (
    ParameterHelp(
        "~/.local/state/patchwright",
        "The state folder: the database of the service (unless database.url is set), "
        "its keys, and copies of repositories. The setting state_dir changes the "
        "folder.",
    ),
    ParameterHelp(
        "~/.local/state/patchwright/runs/*.jsonl",
        "The events of each run of the command line, which replay reads.",
    ),
    ParameterHelp(
        ".patchwright.toml", "The settings of a repository, read on its default branch."
    ),
)


def manual() -> str:
    """Return it without a date or a version, so that it changes when its words do."""
    program, *commands = read_commands()
    return "\n".join(_manual_lines(program, commands)) + "\n"


def _manual_lines(
    program: CommandHelp, commands: Sequence[CommandHelp]
) -> Iterator[str]:
    yield f'.TH {PROGRAM.upper()} 1 "" Patchwright "User Commands"'
    yield from (".SH NAME", f"{PROGRAM} \\- {_roff_text(_without_capital(ABOUT))}")
    yield from (".SH SYNOPSIS", f".B {PROGRAM}", "COMMAND [OPTIONS] [ARGS]...")
    yield from (".SH DESCRIPTION", _roff_text(_DESCRIPTION))
    yield ".SH OPTIONS"
    yield from _manual_list(program.options)
    yield ".SH COMMANDS"
    for command in commands:
        yield from _manual_command(command)
    yield from (".SH ENVIRONMENT", _roff_text(_SETTINGS))
    yield ".SH EXIT STATUS"
    yield from _manual_list(_EXITS)
    yield ".SH FILES"
    yield from _manual_list(_FILES)


def _manual_command(command: CommandHelp) -> Iterator[str]:
    yield f".SS {_roff_text(command.usage)}"
    for paragraph in command.text:
        yield from (".PP", _roff_text(paragraph))
    yield from _manual_list(command.arguments)
    options = [one for one in command.options if not one.written.endswith(_HELP)]
    yield from _manual_list(options)
    if command.examples:
        yield from (".PP", "Examples:", ".nf", ".RS")
        yield from map(_roff_text, command.examples)
        yield from (".RE", ".fi")


def _manual_list(words: Sequence[ParameterHelp]) -> Iterator[str]:
    for one in words:
        yield from (".TP", f".B {_roff_text(one.written)}", _roff_text(one.meaning))


def _without_capital(text: str) -> str:
    """Return it as man pages have it behind the name."""
    return f"{text[0].lower()}{text[1:].rstrip('.')}"


def _roff_text(words: str) -> str:
    """Escape what roff would take for its own.

    https://man7.org/linux/man-pages/man7/groff_char.7.html
    """
    escaped = words.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    escaped = escaped.replace("~", "\\(ti").replace("^", "\\(ha")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
