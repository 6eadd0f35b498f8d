"""Lay the blocks of a document out as lines of runs, one below the other."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import chain
from typing import Final

from patchwright.core.text.document import types as doc


@dataclass(frozen=True, slots=True)
class TextRun:
    """Some text of one line; with `url` it is a link, with `person` it calls them."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    url: str = ""
    person: str = ""


Runs = tuple[TextRun, ...]
PLAIN = TextRun("")


def lines_of(inlines: doc.Inlines, look: TextRun = PLAIN) -> Iterator[Runs]:
    """Yield the lines of a paragraph; Slack ends all formatting with a line."""
    line: list[TextRun] = []
    for run in _flatten(inlines, look):
        if run is _LINE_END:
            yield tuple(line)
            line = []
        elif run.text:
            line.append(run)
    yield tuple(line)


def words_of(runs: Runs) -> str:
    return "".join(run.text for run in runs)


_LINE_END = TextRun("\n")


def _flatten(inlines: doc.Inlines, look: TextRun) -> Iterator[TextRun]:
    for inline in inlines:
        yield from _runs(inline, look)


def _runs(inline: doc.Inline, look: TextRun) -> Iterator[TextRun]:
    match inline:
        case doc.PlainText(text):
            yield replace(look, text=text.replace("\n", " "))
        case doc.Code(text):
            yield replace(look, text=text.replace("\n", " "), code=True)
        case doc.LineBreak():
            yield _LINE_END
        case doc.Hyperlink(url, children):
            words = _on_one_line(doc.plain_text(children)) or url
            yield replace(look, text=words, url=url)
        case doc.InlineImage(url, alt):
            yield replace(look, text=_on_one_line(alt) or "picture", url=url)
        case doc.Mention(person_id, name):
            yield replace(look, text=f"@{name}", person=person_id)
        case _:
            yield from _flatten(inline.children, _look(inline, look))


def _look(
    inline: doc.Strong | doc.Emphasis | doc.Strike | doc.Subscript, look: TextRun
) -> TextRun:
    match inline:
        case doc.Strong():
            return replace(look, bold=True)
        case doc.Emphasis():
            return replace(look, italic=True)
        case doc.Strike():
            return replace(look, strike=True)
        case doc.Subscript():
            return look


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


# What a narrow window shows of code without breaking its lines.
_WIDEST: Final = 72
_GAP: Final = "  "
_FULL_WIDTH: Final = "WF"


def grid_lines(grid: doc.Table) -> tuple[str, ...] | None:
    """Draw a table, or return None if it is too wide or has what code cannot show."""
    rows = (grid.head, *grid.rows)
    if any(map(_needs_markup, chain.from_iterable(rows))):
        return None
    texts = [[" ".join(doc.plain_text(cell).split()) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*texts, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > _WIDEST:
        return None
    head, *others = (_drawn(row, widths) for row in texts)
    rule = _GAP.join("-" * width for width in widths)
    return (head, rule, *others)


def grid_rows(grid: doc.Table) -> Iterator[doc.Inlines]:
    """Yield a line for each row, which says what each value of it is."""
    for row in grid.rows or (grid.head,):
        yield tuple(_entry(grid.head, row))


def _entry(
    head: tuple[doc.Inlines, ...], row: tuple[doc.Inlines, ...]
) -> Iterator[doc.Inline]:
    is_first = True
    for title, cell in zip(head, row, strict=True):
        if not doc.plain_text(cell).strip():
            continue
        if not is_first:
            yield doc.PlainText(" · ")
        if title and title != cell:
            yield from (doc.Strong(title), doc.PlainText(": "))
        yield from cell
        is_first = False


def _needs_markup(cell: doc.Inlines) -> bool:
    return any(
        isinstance(one, doc.Hyperlink | doc.Mention | doc.InlineImage)
        or _needs_markup(getattr(one, "children", ()))
        for one in cell
    )


def _drawn(row: list[str], widths: list[int]) -> str:
    cells = (
        text + " " * (width - _width(text))
        for text, width in zip(row, widths, strict=True)
    )
    return _GAP.join(cells).rstrip()


def _width(text: str) -> int:
    """Return how many columns a text takes; most pictures take two."""
    wide = sum(unicodedata.east_asian_width(sign) in _FULL_WIDTH for sign in text)
    unseen = sum(unicodedata.category(sign) in ("Mn", "Me", "Cf") for sign in text)
    return len(text) + wide - unseen


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


def layout_blocks(blocks: doc.Blocks, level: int = 0) -> Iterator[TextLine]:
    """Yield the lines, with a blank one between blocks."""
    for number, block in enumerate(blocks):
        if number:
            yield _BLANK
        yield from _lines(block, level)


def _lines(block: doc.Block, level: int) -> Iterator[TextLine]:
    match block:
        case doc.Paragraph((doc.Subscript(children),)):
            yield from _prose(children, LineKind.SMALL)
        case doc.Paragraph(children):
            yield from _prose(children)
        case doc.Heading(children=children):
            yield from _prose(children, look=_BOLD)
        case doc.CodeBlock(text):
            yield from (_code(line) for line in text.split("\n"))
        case doc.BlockQuote(inner, alert):
            yield from _quote(inner, alert, level)
        case doc.ListBlock():
            yield from _items(block, level)
        case doc.Table():
            yield from _grid(block)
        case doc.HorizontalRule():
            yield TextLine(LineKind.RULE)
        case doc.Details(title, inner):
            yield from _prose(title, look=_BOLD)
            yield _BLANK
            yield from layout_blocks(inner, level)


def _prose(
    inlines: doc.Inlines, kind: LineKind = LineKind.PROSE, look: TextRun = PLAIN
) -> Iterator[TextLine]:
    yield from (TextLine(kind, runs) for runs in lines_of(inlines, look))


def _code(text: str) -> TextLine:
    return TextLine(LineKind.CODE, (TextRun(text, code=True),))


def _quote(blocks: doc.Blocks, alert: str, level: int) -> Iterator[TextLine]:
    lines = layout_blocks(blocks, level)
    icon = _ICONS.get(alert)
    for line in _marked(lines, f"{icon} ", "") if icon else lines:
        yield replace(line, quoted=True)


def _items(items: doc.ListBlock, level: int) -> Iterator[TextLine]:
    for number, item in enumerate(items.items):
        mark = _mark(items, item, number, level)
        yield from _marked(_item_lines(item, level), f"{mark} ", "    ")


def _item_lines(item: doc.ListItem, level: int) -> Iterator[TextLine]:
    """Yield the lines of an entry; a list in it follows without a blank line."""
    for number, block in enumerate(item.blocks):
        if number and not isinstance(block, doc.ListBlock):
            yield _BLANK
        yield from _lines(block, level + 1)


def _mark(items: doc.ListBlock, item: doc.ListItem, number: int, level: int) -> str:
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


def _grid(grid: doc.Table) -> Iterator[TextLine]:
    drawn = grid_lines(grid)
    if drawn is not None:
        yield from map(_code, drawn)
        return
    for row in grid_rows(grid):
        yield from _marked(_prose(row), f"{_BULLETS[0]} ", "    ")
