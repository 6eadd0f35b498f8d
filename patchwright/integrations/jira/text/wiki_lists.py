"""Read the lists of wiki markup: `*`, `**`, `#`, `#*`, `-`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from patchwright.core.text.document.types import (
    Block,
    Inline,
    ListItem,
    ListBlock,
    LineBreak,
    Paragraph,
)
from patchwright.integrations.jira.text.wiki_inlines_in import read_inlines

LIST_LINE: Final = re.compile(r"(?P<marks>[*#]{1,30}|-(?=\s))(?:\s+(?P<words>\S.*)|\Z)")
# Deeper entries are shown at this depth.
_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class _ListEntry:
    marks: str
    lines: list[str]


def read_list(lines: list[str]) -> Iterator[ListBlock]:
    return _nested(list(_entries(lines)), 0)


def _entries(lines: list[str]) -> Iterator[_ListEntry]:
    entry: _ListEntry | None = None
    for line in lines:
        found = LIST_LINE.match(line)
        if found:
            if entry:
                yield entry
            entry = _ListEntry(found["marks"][:_DEEPEST], [found["words"] or ""])
        elif entry:
            entry.lines.append(line)
    if entry:
        yield entry


def _nested(entries: list[_ListEntry], depth: int) -> Iterator[ListBlock]:
    for mark, group in groupby(entries, lambda entry: entry.marks[depth]):
        items = tuple(_items(list(group), depth))
        yield ListBlock(items, 1 if mark == "#" else None)


def _items(entries: list[_ListEntry], depth: int) -> Iterator[ListItem]:
    """Put deeper entries below the one before them."""
    at = 0
    while at < len(entries):
        blocks: list[Block] = []
        if len(entries[at].marks) == depth + 1:
            blocks.append(_paragraph(entries[at].lines))
            at += 1
        below = at
        while at < len(entries) and len(entries[at].marks) > depth + 1:
            at += 1
        blocks += _nested(entries[below:at], depth + 1)
        yield ListItem(tuple(blocks))


def _paragraph(lines: list[str]) -> Paragraph:
    inlines: list[Inline] = list(read_inlines(lines[0]))
    for line in lines[1:]:
        inlines += [LineBreak(), *read_inlines(line)]
    return Paragraph(tuple(inlines))
