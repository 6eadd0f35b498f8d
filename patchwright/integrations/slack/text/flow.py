"""Lay the blocks of a document out as lines, one below the other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from patchwright.core.text.document.types import (
    Block,
    Blocks,
    CodeBlock,
    Details,
    Table,
    Heading,
    Inlines,
    ListItem,
    ListBlock,
    Paragraph,
    BlockQuote,
    HorizontalRule,
    Subscript,
)
from patchwright.integrations.slack.text.grids import grid_lines, grid_rows
from patchwright.integrations.slack.text.runs import PLAIN, TextRun, Runs, lines_of


class LineKind(Enum):
    PROSE = auto()
    CODE = auto()
    SMALL = auto()
    RULE = auto()


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of prose, or one of code, which is a single run."""

    kind: LineKind
    runs: Runs = ()
    indent: str = ""
    quoted: bool = False


_BLANK: Final = TextLine(LineKind.PROSE)
_BOLD: Final = TextRun("", bold=True)
_BULLETS: Final = ("•", "◦", "▪")
_ICONS: Final = {
    "note": "📝",
    "tip": "💡",
    "important": "❗",
    "warning": "⚠️",
    "caution": "🛑",
}


def layout_blocks(blocks: Blocks, level: int = 0) -> Iterator[TextLine]:
    """Yield the lines, with a blank one between blocks."""
    for number, block in enumerate(blocks):
        if number:
            yield _BLANK
        yield from _lines(block, level)


def _lines(block: Block, level: int) -> Iterator[TextLine]:
    match block:
        case Paragraph((Subscript(children),)):
            yield from _prose(children, LineKind.SMALL)
        case Paragraph(children):
            yield from _prose(children)
        case Heading(children=children):
            yield from _prose(children, look=_BOLD)
        case CodeBlock(text):
            yield from (_code(line) for line in text.split("\n"))
        case BlockQuote(inner, alert):
            yield from _quote(inner, alert, level)
        case ListBlock():
            yield from _items(block, level)
        case Table():
            yield from _grid(block)
        case HorizontalRule():
            yield TextLine(LineKind.RULE)
        case Details(title, inner):
            yield from _prose(title, look=_BOLD)
            yield _BLANK
            yield from layout_blocks(inner, level)


def _prose(
    inlines: Inlines, kind: LineKind = LineKind.PROSE, look: TextRun = PLAIN
) -> Iterator[TextLine]:
    yield from (TextLine(kind, runs) for runs in lines_of(inlines, look))


def _code(text: str) -> TextLine:
    return TextLine(LineKind.CODE, (TextRun(text, code=True),))


def _quote(blocks: Blocks, alert: str, level: int) -> Iterator[TextLine]:
    lines = layout_blocks(blocks, level)
    icon = _ICONS.get(alert)
    for line in _marked(lines, f"{icon} ", "") if icon else lines:
        yield replace(line, quoted=True)


def _items(items: ListBlock, level: int) -> Iterator[TextLine]:
    for number, item in enumerate(items.items):
        mark = _mark(items, item, number, level)
        yield from _marked(_item_lines(item, level), f"{mark} ", "    ")


def _item_lines(item: ListItem, level: int) -> Iterator[TextLine]:
    """Yield the lines of an entry; a list in it follows without a blank line."""
    for number, block in enumerate(item.blocks):
        if number and not isinstance(block, ListBlock):
            yield _BLANK
        yield from _lines(block, level + 1)


def _mark(items: ListBlock, item: ListItem, number: int, level: int) -> str:
    if item.checked is not None:
        return "☑" if item.checked else "☐"
    if items.start is not None:
        return f"{items.start + number}."
    return _BULLETS[min(level, len(_BULLETS) - 1)]


def _marked(lines: Iterator[TextLine], mark: str, indent: str) -> Iterator[TextLine]:
    """Put a mark in front of the first line, and move the others below its text."""
    first = next(lines, _BLANK)
    if first.kind in (LineKind.CODE, LineKind.RULE):
        yield TextLine(LineKind.PROSE, indent=mark)
        yield first
    else:
        yield replace(first, kind=LineKind.PROSE, indent=mark + first.indent)
    for line in lines:
        yield replace(line, indent=indent + line.indent)


def _grid(grid: Table) -> Iterator[TextLine]:
    drawn = grid_lines(grid)
    if drawn is not None:
        yield from map(_code, drawn)
        return
    for row in grid_rows(grid):
        yield from _marked(_prose(row), f"{_BULLETS[0]} ", "    ")
