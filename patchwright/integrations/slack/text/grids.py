"""Show a table where there are none: as drawn text if it fits, else as a list."""

import unicodedata
from collections.abc import Iterator
from itertools import chain
from typing import Final

from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.types import (
    Mention,
    Table,
    Inline,
    Inlines,
    Hyperlink,
    InlineImage,
    Strong,
    PlainText,
)

# What a narrow window shows of code without breaking its lines.
_WIDEST: Final = 72
_GAP: Final = "  "
_FULL_WIDTH: Final = "WF"


def grid_lines(grid: Table) -> tuple[str, ...] | None:
    """Draw a table, or return None if it is too wide or has what code cannot show."""
    rows = (grid.head, *grid.rows)
    if any(map(_needs_markup, chain.from_iterable(rows))):
        return None
    texts = [[" ".join(plain_text(cell).split()) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*texts, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > _WIDEST:
        return None
    head, *others = (_drawn(row, widths) for row in texts)
    rule = _GAP.join("-" * width for width in widths)
    return (head, rule, *others)


def grid_rows(grid: Table) -> Iterator[Inlines]:
    """Yield a line for each row, which says what each value of it is."""
    for row in grid.rows or (grid.head,):
        yield tuple(_entry(grid.head, row))


def _entry(head: tuple[Inlines, ...], row: tuple[Inlines, ...]) -> Iterator[Inline]:
    is_first = True
    for title, cell in zip(head, row, strict=True):
        if not plain_text(cell).strip():
            continue
        if not is_first:
            yield PlainText(" · ")
        if title and title != cell:
            yield from (Strong(title), PlainText(": "))
        yield from cell
        is_first = False


def _needs_markup(cell: Inlines) -> bool:
    return any(
        isinstance(one, Hyperlink | Mention | InlineImage)
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
