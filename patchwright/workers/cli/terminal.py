"""Lines, errors and notices on a terminal, without what would steer it."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import structlog
from rich.console import Console
from rich.text import Text

from patchwright.core.settings.model import Settings
from patchwright.core.text.strings import strip_invisible
from patchwright.core.types.errors import PatchwrightError
from patchwright.integrations.settings import find_notices, load_settings_here


def plain(text: str, style: str = "") -> Text:
    """Return somebody's words as text in which nothing steers the terminal."""
    return Text(strip_invisible(text)[0], style=style)


def print_hanging(console: Console, text: Text, indent: int = 0) -> None:
    """Print a text of which the first `indent` cells are a label.

    What does not fit a terminal's line goes on below, beside the label. Where nobody
    looks at the width, its lines stay whole.
    """
    label, words = text[:indent], text[indent:]
    for line in hanging_lines(console, label, Text(" " * indent), words):
        console.print(line, soft_wrap=True)


def hanging_lines(
    console: Console, start: Text, others: Text, words: Text
) -> Iterator[Text]:
    """Yield the words line by line, the first after `start` and each after `others`."""
    lines = words.split("\n", allow_blank=True)
    if console.is_terminal:
        width = max(console.width - others.cell_len, _LEAST_CELLS)
        lines = words.wrap(console, width)
    for number, line in enumerate(lines):
        line.rstrip()
        yield (others if number else start).copy().append_text(line)


# A narrower column of words is worse than a line that the terminal breaks.
_LEAST_CELLS: Final = 20


def print_line(console: Console, text: Text, remark: Text | None = None) -> None:
    """Print a text, and its result in brighter words that are cut last.

    Where nobody looks at the width, it stays whole.
    """
    tail = Text("  ").append_text(remark) if remark else Text()
    if console.is_terminal:
        tail.truncate(console.width // 2, overflow="ellipsis")
        text.truncate(console.width - tail.cell_len, overflow="ellipsis")
    console.print(text.append_text(tail), soft_wrap=True)


def shorten_middle(text: str, width: int) -> str:
    """Cut a text in its middle: a thread is known by its number at the end."""
    if len(text) <= width:
        return text
    tail = width // 2
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def log_to_stderr() -> None:
    """Show what goes wrong until the command sets up logging."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))


def print_error(error: PatchwrightError) -> None:
    console = Console(stderr=True)
    text = Text.assemble(("error: ", "bold red"), plain(str(error)))
    # Where nobody looks at the width, no line is broken.
    console.print(text, soft_wrap=not console.is_terminal)


_NO_FLAGS: Final[Mapping[str, object]] = MappingProxyType({})


def load_command_settings(
    flags: Mapping[str, object] = _NO_FLAGS, config: Path | None = None
) -> Settings:
    """Read them for this process, and print the notices on standard error.

    `config` is a file in place of `./patchwright.toml`. Raises `SettingsError`.
    """
    settings = load_settings_here(flags, config)
    for notice in find_notices(settings):
        print_warning(str(notice))
    return settings


def print_warning(words: str) -> None:
    console = Console(stderr=True)
    text = Text.assemble(("warning: ", "bold yellow"), plain(words))
    console.print(text, soft_wrap=not console.is_terminal)
