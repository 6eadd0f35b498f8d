"""Show verdicts to a person, in columns."""

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import Console
from rich.text import Text

from patchwright.core.text.invisible import strip_invisible
from patchwright.workers.doctor.finding import CheckStatus, NamedResult
from patchwright.workers.doctor.table import CHECKS

_STYLES: Final[Mapping[CheckStatus, str]] = {
    CheckStatus.OK: "green",
    CheckStatus.WARNING: "yellow",
    CheckStatus.FAILED: "bold red",
    CheckStatus.SKIPPED: "dim",
}
_STATUS_WIDTH: Final = max(len(status) for status in CheckStatus) + 2
_NAME_WIDTH: Final = max(len(entry.name) for entry in CHECKS) + 2
_INDENT: Final = _STATUS_WIDTH + _NAME_WIDTH
_LEAST_WIDTH: Final = 30


def print_check(console: Console, verdict: NamedResult) -> None:
    """Print what was found, and below it what to do."""
    style = _STYLES[verdict.finding.status]
    dim = "dim" if verdict.finding.status is CheckStatus.SKIPPED else ""
    head = Text.assemble(
        (verdict.finding.status.ljust(_STATUS_WIDTH), style),
        (verdict.name.ljust(_NAME_WIDTH), dim or "bold"),
    )
    # What others say is in there too, and must not steer the terminal.
    found, _ = strip_invisible(verdict.finding.found)
    _print_column(console, head, Text(found, style=dim))
    for line in verdict.finding.fix.splitlines():
        pointer = Text.assemble((" " * (_INDENT - 2) + "> ", style))
        _print_column(console, pointer, Text(line))


def _print_column(console: Console, head: Text, words: Text) -> None:
    for line in _wrapped(console, words):
        console.print(head + line, soft_wrap=True)
        head = Text(" " * _INDENT)


def _wrapped(console: Console, words: Text) -> Iterator[Text]:
    """Break a text for the width of a terminal; what is piped stays whole."""
    if not console.is_terminal:
        yield words
        return
    width = max(console.width - _INDENT, _LEAST_WIDTH)
    yield from words.wrap(console, width)
