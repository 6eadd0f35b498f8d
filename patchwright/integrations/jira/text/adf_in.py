"""Read an ADF document, the texts of Jira Cloud's API.

https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Final

from patchwright.core.text.document.types import (
    Block,
    Blocks,
    CodeBlock,
    Table,
    Heading,
    Inline,
    Inlines,
    ListItem,
    ListBlock,
    LineBreak,
    Paragraph,
    BlockQuote,
    HorizontalRule,
    Strong,
    PlainText,
)
from patchwright.integrations.jira.text.adf_inlines_in import (
    is_inline,
    link_to,
    picture_of,
    read_inlines,
)
from patchwright.integrations.jira.text.adf_nodes import (
    Node,
    attribute,
    children_of,
    kind_of,
    text_of,
    words_below,
)
from patchwright.integrations.jira.text.markdown_blocks import write_markdown

# Whatever is deeper is read as words alone: nobody writes it by hand.
_DEEPEST: Final = 10
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_ROWS_OF_LINES: Final = frozenset({"paragraph", "heading", "mediaSingle", "mediaGroup"})


def adf_to_markdown(document: object) -> str:
    """Return a text as Markdown; Jira has null for one that was left empty."""
    return write_markdown(adf_blocks(document))


def adf_blocks(document: object) -> Blocks:
    return _blocks(document, 0) if isinstance(document, dict) else ()


def _blocks(parent: Node, depth: int) -> Blocks:
    """Read the children of a node; inline ones between blocks are a paragraph."""
    if depth > _DEEPEST:
        return _words_only(parent)
    blocks: list[Block] = []
    for inline, group in groupby(children_of(parent), is_inline):
        if inline:
            blocks.append(Paragraph(read_inlines(group)))
        else:
            blocks += (block for node in group for block in _block(node, depth))
    return tuple(blocks)


def _block(node: Node, depth: int) -> Iterator[Block]:
    match kind_of(node):
        case "paragraph" | "caption":
            yield Paragraph(read_inlines(children_of(node)))
        case "heading":
            yield Heading(_level(node), read_inlines(children_of(node)))
        case "codeBlock":
            yield _code(node)
        case "blockquote":
            yield BlockQuote(_blocks(node, depth + 1))
        case "bulletList" | "orderedList" | "taskList" | "decisionList":
            yield ListBlock(tuple(_items(node, depth + 1)), _start(node))
        case "table":
            yield from _table(node, depth + 1)
        case "rule":
            yield HorizontalRule()
        case "media":
            yield Paragraph((picture_of(node),))
        case "blockCard" | "embedCard":
            yield Paragraph((link_to(attribute(node, "url")),))
        case _:
            yield from _container(node, depth)


def _container(node: Node, depth: int) -> Iterator[Block]:
    """Read an expand, a panel, a layout, an extension, or what is yet to come."""
    if title := attribute(node, "title"):
        yield Paragraph((Strong((PlainText(title),)),))
    if words := attribute(node, "text") or text_of(node):
        yield Paragraph((PlainText(words),))
    yield from _blocks(node, depth + 1)


def _words_only(node: Node) -> Blocks:
    words = words_below(node)
    return (Paragraph((PlainText(words),)),) if words else ()


def _level(heading: Node) -> int:
    level = attribute(heading, "level")
    return int(level) if level in {"1", "2", "3", "4", "5", "6"} else 1


def _start(items: Node) -> int | None:
    if kind_of(items) != "orderedList":
        return None
    order = _NUMBER.fullmatch(attribute(items, "order"))
    return int(order[0]) if order else 1


def _code(node: Node) -> CodeBlock:
    text = words_below(node).replace("\r\n", "\n").replace("\r", "\n")
    return CodeBlock(text, attribute(node, "language"))


def _items(parent: Node, depth: int) -> list[ListItem]:
    items: list[ListItem] = []
    for node in children_of(parent):
        if kind_of(node) != "taskList":
            items.append(ListItem(_blocks(node, depth), _checked(node)))
        elif depth <= _DEEPEST:
            # The list below a task stands beside it.
            above = items.pop() if items else ListItem(())
            inner = tuple(_block(node, depth))
            items.append(replace(above, blocks=(*above.blocks, *inner)))
    return items


def _checked(item: Node) -> bool | None:
    if kind_of(item) not in {"taskItem", "blockTaskItem"}:
        return None
    return attribute(item, "state") == "DONE"


def _table(table: Node, depth: int) -> Iterator[Block]:
    """Read a table; one with more than lines in its cells becomes a list of rows."""
    rows = [children_of(row) for row in children_of(table)]
    if any(not _has_lines_only(cell) for row in rows for cell in row):
        yield ListBlock(tuple(ListItem(_row_blocks(row, depth)) for row in rows))
    elif rows:
        yield _grid(rows, depth)


def _row_blocks(row: list[Node], depth: int) -> Blocks:
    return tuple(block for cell in row for block in _blocks(cell, depth + 1))


def _has_lines_only(cell: Node) -> bool:
    return all(
        is_inline(node) or kind_of(node) in _ROWS_OF_LINES for node in children_of(cell)
    )


def _grid(rows: list[list[Node]], depth: int) -> Table:
    width = max(map(len, rows))
    cells = [tuple(_cell(_blocks(cell, depth + 1)) for cell in row) for row in rows]
    padded = [row + ((),) * (width - len(row)) for row in cells]
    if all(kind_of(cell) == "tableHeader" for cell in rows[0]):
        return Table(padded[0], tuple(padded[1:]))
    return Table(((),) * width, tuple(padded))


def _cell(blocks: Blocks) -> Inlines:
    lines: list[Inline] = []
    for block in blocks:
        if isinstance(block, Paragraph | Heading) and block.children:
            lines += [LineBreak(), *block.children] if lines else block.children
    return tuple(lines)
