"""Write a document as Markdown."""

import re
from collections.abc import Iterator
from typing import Final, assert_never

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
    Strong,
)
from patchwright.integrations.jira.text.markdown_escape import fence
from patchwright.integrations.jira.text.markdown_inlines import (
    MentionName,
    name_with_at,
    write_inlines,
)

_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,20}", re.ASCII)
_LARGEST_NUMBER: Final = 99_999_999


def write_markdown(blocks: Blocks, named: MentionName = name_with_at) -> str:
    return "\n".join(_BlockWriter(named).write(blocks))


class _BlockWriter:
    """Writes lines; `named` says how a mention is written, as words."""

    def __init__(self, named: MentionName) -> None:
        self._named = named

    def write(self, blocks: Blocks, *, tight: bool = False) -> list[str]:
        lines: list[str] = []
        before: Block | None = None
        second = False
        for block in blocks:
            second = _would_join(before, block) and not second
            written = self._block(block, second=second)
            if not written:
                continue
            if lines and not (tight and _may_follow(before, block)):
                lines.append("")
            lines += written
            before = block
        return lines

    def _block(self, block: Block, *, second: bool) -> list[str]:
        match block:
            case Paragraph(children):
                return self._lines(children)
            case Heading(level, children):
                return [f"{'#' * level} {line}" for line in self._line(children)]
            case CodeBlock(text, language):
                return _code(text, language)
            case BlockQuote(inner):
                return [f"> {line}".rstrip() for line in self.write(inner)]
            case ListBlock():
                return list(self._items(block, second=second))
            case Table(head, rows):
                return self._grid(head, rows)
            case HorizontalRule():
                return ["___"]
            case Details(title, inner):
                return self.write((Paragraph((Strong(title),)), *inner))
            case _:
                assert_never(block)

    def _lines(self, inlines: Inlines) -> list[str]:
        lines = write_inlines(inlines, self._named).split("\n")
        return [line.strip() for line in lines if line.strip()]

    def _line(self, inlines: Inlines) -> list[str]:
        """Return a single line, or none; what would end a heading is escaped."""
        line = " ".join(self._lines(inlines))
        if line.endswith("#") and not line.endswith("\\#"):
            line = f"{line[:-1]}\\#"
        return [line] if line else []

    def _items(self, items: ListBlock, *, second: bool) -> Iterator[str]:
        for number, item in enumerate(items.items):
            mark = _mark(items.start, number, second=second)
            first, *others = self._item(item) or [""]
            yield f"{mark} {first}".rstrip()
            indent = " " * (len(mark) + 1)
            yield from (f"{indent}{line}".rstrip() if line else "" for line in others)

    def _item(self, item: ListItem) -> list[str]:
        lines = self.write(item.blocks, tight=True)
        if item.checked is None or not lines:
            return lines
        return [f"[{'x' if item.checked else ' '}] {lines[0]}", *lines[1:]]

    def _grid(
        self, head: tuple[Inlines, ...], rows: tuple[tuple[Inlines, ...], ...]
    ) -> list[str]:
        divider = f"|{' --- |' * len(head)}"
        return [self._row(head), divider, *map(self._row, rows)]

    def _row(self, cells: tuple[Inlines, ...]) -> str:
        return f"|{''.join(f' {self._cell(cell)} |' for cell in cells)}"

    def _cell(self, inlines: Inlines) -> str:
        text = "<br>".join(self._lines(inlines))
        return re.sub(r"(?<!\\)\|", r"\\|", text)


def _would_join(before: Block | None, block: Block) -> bool:
    """Tell whether two lists would be one, unless their marks differ."""
    if not (isinstance(before, ListBlock) and isinstance(block, ListBlock)):
        return False
    return (before.start is None) == (block.start is None)


def _may_follow(before: Block | None, block: Block) -> bool:
    """Tell whether a list needs no blank line below the words of an entry."""
    if not (isinstance(before, Paragraph) and isinstance(block, ListBlock)):
        return False
    return block.start is None and bool(block.items and block.items[0].blocks)


def _mark(start: int | None, number: int, *, second: bool) -> str:
    if start is None:
        return "*" if second else "-"
    shown = start + number if 0 <= start <= _LARGEST_NUMBER else number + 1
    return f"{shown}{')' if second else '.'}"


def _code(text: str, language: str) -> list[str]:
    ticks = fence(text)
    label = language if _LANGUAGE.fullmatch(language) else ""
    return [f"{ticks}{label}", *text.split("\n"), ticks]
