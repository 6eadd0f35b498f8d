"""Read the lines of wiki markup that no macro encloses.

https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from itertools import groupby
from typing import Final, assert_never

from patchwright.core.text.document.types import (
    Block,
    Blocks,
    Table,
    Heading,
    Inline,
    Inlines,
    LineBreak,
    Paragraph,
    BlockQuote,
    HorizontalRule,
)
from patchwright.integrations.jira.text.wiki_inlines_in import read_inlines
from patchwright.integrations.jira.text.wiki_lists import LIST_LINE, read_list

_HEADING: Final = re.compile(r"h([1-6])\.(?:\s+(.*)|\Z)")
_QUOTE: Final = re.compile(r"bq\.(?:\s+(.*)|\Z)")
_RULE: Final = re.compile(r"-{4,}\Z")
# A bar inside a link, a picture or code divides nothing.
_PIECE: Final = re.compile(
    r"(?P<bar>\|\|?)|\\.|\[[^\]\[\n]{0,2000}\]|\{\{(?:(?!\{\{|\}\}).){0,1000}\}\}"
    r"|![^\s!|][^!|\n]{0,300}\|[^!\n|]{0,200}!|."
)
_MAX_CELLS: Final = 10_000


class _LineKind(Enum):
    BLANK = auto()
    HEADING = auto()
    QUOTE = auto()
    RULE = auto()
    LIST = auto()
    TABLE = auto()
    WORDS = auto()


def read_lines(text: str) -> Blocks:
    lines = [line.strip() for line in text.split("\n")]
    groups = groupby(zip(_kinds(lines), lines, strict=True), lambda pair: pair[0])
    return tuple(
        block
        for kind, group in groups
        for block in _line_blocks(kind, [line for _, line in group])
    )


def _kinds(lines: list[str]) -> Iterator[_LineKind]:
    """Tell the lines apart; words below an entry of a list belong to it."""
    before = _LineKind.BLANK
    for line in lines:
        kind = _kind(line)
        if kind is _LineKind.WORDS and before is _LineKind.LIST:
            kind = _LineKind.LIST
        before = kind
        yield kind


def _kind(line: str) -> _LineKind:
    if not line:
        return _LineKind.BLANK
    if _HEADING.match(line):
        return _LineKind.HEADING
    if _QUOTE.match(line):
        return _LineKind.QUOTE
    if _RULE.match(line):
        return _LineKind.RULE
    if LIST_LINE.match(line):
        return _LineKind.LIST
    return _LineKind.TABLE if line.startswith("|") and len(line) > 1 else _LineKind.WORDS


def _line_blocks(kind: _LineKind, lines: list[str]) -> Iterator[Block]:
    match kind:
        case _LineKind.BLANK:
            return
        case _LineKind.HEADING:
            yield from (_heading(line) for line in lines)
        case _LineKind.QUOTE:
            yield from (BlockQuote((_quoted(line),)) for line in lines)
        case _LineKind.RULE:
            yield from (HorizontalRule() for _ in lines)
        case _LineKind.LIST:
            yield from read_list(lines)
        case _LineKind.TABLE:
            yield _grid(lines)
        case _LineKind.WORDS:
            yield Paragraph(_joined_lines(lines))
        case _:
            assert_never(kind)


def _heading(line: str) -> Heading:
    found = _HEADING.match(line)
    level, words = (int(found[1]), found[2] or "") if found else (1, line)
    return Heading(level, read_inlines(words))


def _quoted(line: str) -> Paragraph:
    return Paragraph(read_inlines(line.removeprefix("bq.").strip()))


def _joined_lines(lines: list[str]) -> Inlines:
    inlines: list[Inline] = list(read_inlines(lines[0]))
    for line in lines[1:]:
        inlines += [LineBreak(), *read_inlines(line)]
    return tuple(inlines)


def _grid(lines: list[str]) -> Table | Paragraph:
    rows = [_cells(line) for line in lines]
    width = max(map(len, rows))
    if width * len(rows) > _MAX_CELLS:
        # A wide row would add as many cells to thousands that have none.
        return Paragraph(_joined_lines(lines))
    cells = [tuple(map(read_inlines, row + [""] * (width - len(row)))) for row in rows]
    if lines[0].startswith("||"):
        return Table(cells[0], tuple(cells[1:]))
    return Table(((),) * width, tuple(cells))


def _cells(line: str) -> list[str]:
    begin: int | None = None
    cells: list[str] = []
    for piece in _PIECE.finditer(line):
        if piece["bar"]:
            if begin is not None:
                cells.append(line[begin : piece.start()].strip())
            begin = piece.end()
    last = line[begin:].strip()
    return [*cells, last] if last or not cells else cells
