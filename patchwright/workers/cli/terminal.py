"""Lines and errors on a terminal, cut to fit it, and without what would steer it."""

import sys

import structlog
from rich.console import Console
from rich.text import Text

from patchwright.core.settings.model import SettingsNotice
from patchwright.core.text.strings import strip_invisible
from patchwright.core.types.errors import PatchwrightError


def plain(text: str, style: str = "") -> Text:
    """Return somebody's words as text in which nothing steers the terminal."""
    return Text(strip_invisible(text)[0], style=style)


def print_line(console: Console, text: Text, remark: Text | None = None) -> None:
    """Print a text, and its result in brighter words that are cut last.

    Where nobody looks at the width, it stays whole.
    """
    tail = Text("  ").append_text(remark) if remark else Text()
    if console.is_terminal:
        tail.truncate(console.width // 2, overflow="ellipsis")
        text.truncate(console.width - tail.cell_len, overflow="ellipsis")
    console.print(text.append_text(tail), soft_wrap=True)


def log_to_stderr() -> None:
    """Show what goes wrong until the command sets up logging."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))


def print_error(error: PatchwrightError) -> None:
    console = Console(stderr=True)
    text = Text.assemble(("error: ", "bold red"), plain(str(error)))
    # Where nobody looks at the width, no line is broken.
    console.print(text, soft_wrap=not console.is_terminal)


def print_notice(notice: SettingsNotice) -> None:
    print_warning(str(notice))


def print_warning(words: str) -> None:
    console = Console(stderr=True)
    text = Text.assemble(("warning: ", "bold yellow"), plain(words))
    console.print(text, soft_wrap=not console.is_terminal)
