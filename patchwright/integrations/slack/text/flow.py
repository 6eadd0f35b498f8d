"""Lay the blocks of a document out as lines, one below the other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from patchwright.core.text.document.types import (
    Block,
    Blocks,
    CodeBlock,
    Fold,
    Grid,
    Heading,
    Inlines,
    Item,
    Items,
    Paragraph,
    Quote,
    Rule,
    Small,
)
from patchwright.integrations.slack.text.grids import grid_lines, grid_rows
from patchwright.integrations.slack.text.runs import PLAIN, Run, Runs, lines_of


class Kind(Enum):
    PROSE = auto()
    CODE = auto()
    SMALL = auto()
    RULE = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of prose, or one of code, which is a single run."""

    kind: Kind
    runs: Runs = ()
    indent: str = ""
    quoted: bool = False


_BLANK: Final = Line(Kind.PROSE)
_BOLD: Final = Run("", bold=True)
_BULLETS: Final = ("•", "◦", "▪")
_ICONS: Final = {
    "note": "📝",
    "tip": "💡",
    "important": "❗",
    "warning": "⚠️",
    "caution": "🛑",
}


def flow(blocks: Blocks, level: int = 0) -> Iterator[Line]:
    """Yield the lines, with a blank one between blocks."""
    for number, block in enumerate(blocks):
        if number:
            yield _BLANK
        yield from _lines(block, level)


def _lines(block: Block, level: int) -> Iterator[Line]:
    match block:
        case Paragraph((Small(children),)):
            yield from _prose(children, Kind.SMALL)
        case Paragraph(children):
            yield from _prose(children)
        case Heading(children=children):
            yield from _prose(children, look=_BOLD)
        case CodeBlock(text):
            yield from (_code(line) for line in text.split("\n"))
        case Quote(inner, alert):
            yield from _quote(inner, alert, level)
        case Items():
            yield from _items(block, level)
        case Grid():
            yield from _grid(block)
        case Rule():
            yield Line(Kind.RULE)
        case Fold(title, inner):
            yield from _prose(title, look=_BOLD)
            yield _BLANK
            yield from flow(inner, level)


def _prose(
    inlines: Inlines, kind: Kind = Kind.PROSE, look: Run = PLAIN
) -> Iterator[Line]:
    yield from (Line(kind, runs) for runs in lines_of(inlines, look))


def _code(text: str) -> Line:
    return Line(Kind.CODE, (Run(text, code=True),))


def _quote(blocks: Blocks, alert: str, level: int) -> Iterator[Line]:
    lines = flow(blocks, level)
    icon = _ICONS.get(alert)
    for line in _marked(lines, f"{icon} ", "") if icon else lines:
        yield replace(line, quoted=True)


def _items(items: Items, level: int) -> Iterator[Line]:
    for number, item in enumerate(items.items):
        mark = _mark(items, item, number, level)
        yield from _marked(_item_lines(item, level), f"{mark} ", "    ")


def _item_lines(item: Item, level: int) -> Iterator[Line]:
    """Yield the lines of an entry; a list in it follows without a blank line."""
    for number, block in enumerate(item.blocks):
        if number and not isinstance(block, Items):
            yield _BLANK
        yield from _lines(block, level + 1)


def _mark(items: Items, item: Item, number: int, level: int) -> str:
    if item.checked is not None:
        return "☑" if item.checked else "☐"
    if items.start is not None:
        return f"{items.start + number}."
    return _BULLETS[min(level, len(_BULLETS) - 1)]


def _marked(lines: Iterator[Line], mark: str, indent: str) -> Iterator[Line]:
    """Put a mark in front of the first line, and move the others below its text."""
    first = next(lines, _BLANK)
    if first.kind in (Kind.CODE, Kind.RULE):
        yield Line(Kind.PROSE, indent=mark)
        yield first
    else:
        yield replace(first, kind=Kind.PROSE, indent=mark + first.indent)
    for line in lines:
        yield replace(line, indent=indent + line.indent)


def _grid(grid: Grid) -> Iterator[Line]:
    drawn = grid_lines(grid)
    if drawn is not None:
        yield from map(_code, drawn)
        return
    for row in grid_rows(grid):
        yield from _marked(_prose(row), f"{_BULLETS[0]} ", "    ")
