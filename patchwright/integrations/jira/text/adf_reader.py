"""Read an ADF document, the texts of Jira Cloud's API."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from patchwright.core.text.document import types as doc
from patchwright.core.text.document.inlines import link_addresses
from patchwright.integrations.jira.text.markdown_writer import write_markdown

Node = Mapping[str, object]


def kind_of(node: Node) -> str:
    kind = node.get("type")
    return kind if isinstance(kind, str) else ""


def children_of(node: Node) -> list[Node]:
    return _nodes(node.get("content"))


def marks_of(node: Node) -> list[Node]:
    return _nodes(node.get("marks"))


def attribute(node: Node, name: str) -> str:
    """Return an attribute as text; it is empty where it isn't there."""
    attributes = node.get("attrs")
    value = attributes.get(name) if isinstance(attributes, Mapping) else None
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""


def text_of(node: Node) -> str:
    text = node.get("text")
    return text if isinstance(text, str) else ""


def words_below(node: Node) -> str:
    """Return the texts of a node, however deep they are."""
    return "".join(_texts(node))


def _texts(node: Node) -> Iterator[str]:
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield text_of(here)
        waiting += reversed(children_of(here))


def _nodes(value: object) -> list[Node]:
    nodes = value if isinstance(value, list) else []
    return [node for node in nodes if isinstance(node, Mapping)]


# From the outside to the inside. Colours, underlines, annotations and the like say
# nothing that Markdown could.
_STYLES: Final[dict[str, Callable[[doc.Inlines], doc.Inline]]] = {
    "strong": doc.Strong,
    "em": doc.Emphasis,
    "strike": doc.Strike,
}
_INLINES: Final = frozenset(
    {
        *("text", "hardBreak", "mention", "emoji", "date", "status", "inlineCard"),
        *("placeholder", "inlineExtension", "mediaInline"),
    }
)


def is_inline(node: Node) -> bool:
    return kind_of(node) in _INLINES


def read_inlines(nodes: Iterable[Node]) -> doc.Inlines:
    groups = groupby(nodes, _address)
    return tuple(
        inline
        for url, linked in groups
        for inline in _linked(url, _styled(list(linked), list(_STYLES)))
    )


def picture_of(media: Node) -> doc.Inline:
    """Return what stands for a file; those of Jira have ids and no addresses."""
    name = attribute(media, "alt") or attribute(media, "type") or "file"
    url = attribute(media, "url")
    return (
        doc.Hyperlink(url, (doc.PlainText(name),))
        if url
        else doc.PlainText(f"[{name}]")
    )


def link_to(url: str) -> doc.Inline:
    return doc.Hyperlink(url, (doc.PlainText(url),))


def _address(node: Node) -> str:
    links = (mark for mark in marks_of(node) if kind_of(mark) == "link")
    return next((attribute(mark, "href") for mark in links), "")


def _linked(url: str, inlines: doc.Inlines) -> doc.Inlines:
    return (doc.Hyperlink(url, inlines),) if url else inlines


def _styled(nodes: list[Node], styles: list[str]) -> doc.Inlines:
    """Put neighbours that share a style into one, as people see them."""
    if not styles:
        return tuple(inline for node in nodes for inline in _leaf(node))
    style, *inner = styles
    inlines: list[doc.Inline] = []
    for has_style, group in groupby(nodes, lambda node: _has_mark(node, style)):
        children = _styled(list(group), inner)
        inlines += [_STYLES[style](children)] if has_style else children
    return tuple(inlines)


def _has_mark(node: Node, kind: str) -> bool:
    return any(kind_of(mark) == kind for mark in marks_of(node))


def _leaf(node: Node) -> Iterator[doc.Inline]:
    match kind_of(node):
        case "text":
            yield from _words(node)
        case "hardBreak":
            yield doc.LineBreak()
        case "mention":
            yield _call(node)
        case "emoji":
            yield doc.PlainText(attribute(node, "text") or attribute(node, "shortName"))
        case "date":
            yield doc.PlainText(_day(attribute(node, "timestamp")))
        case "status" | "inlineExtension":
            yield doc.PlainText(attribute(node, "text"))
        case "inlineCard":
            yield from _card(node)
        case "mediaInline":
            yield picture_of(node)
        case "placeholder":
            return
        case _:
            yield from _lines(words_below(node))


def _words(node: Node) -> Iterator[doc.Inline]:
    if _has_mark(node, "code"):
        yield doc.Code(text_of(node))
    elif _address(node):
        yield from _lines(text_of(node))
    else:
        yield from link_addresses(tuple(_lines(text_of(node))))


def _lines(text: str) -> Iterator[doc.Inline]:
    first, *others = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    yield doc.PlainText(first)
    for line in others:
        yield doc.LineBreak()
        yield doc.PlainText(line)


def _call(node: Node) -> doc.Mention:
    person_id = attribute(node, "id")
    name = (attribute(node, "text") or text_of(node)).removeprefix("@")
    return doc.Mention(person_id, name or person_id)


def _card(node: Node) -> Iterator[doc.Inline]:
    if url := attribute(node, "url"):
        yield link_to(url)
    else:
        yield from (doc.PlainText(words_below(child)) for child in children_of(node))


def _day(timestamp: str) -> str:
    """Return the day of a time in milliseconds, or what is there instead."""
    try:
        return datetime.fromtimestamp(int(timestamp) / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return timestamp


# Whatever is deeper is read as words alone: nobody writes it by hand.
_DEEPEST: Final = 10
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_ROWS_OF_LINES: Final = frozenset({"paragraph", "heading", "mediaSingle", "mediaGroup"})


def adf_to_markdown(document: object) -> str:
    """Return a text as Markdown; Jira has null for one that was left empty."""
    return write_markdown(adf_blocks(document))


def adf_blocks(document: object) -> doc.Blocks:
    return _blocks(document, 0) if isinstance(document, dict) else ()


def _blocks(parent: Node, depth: int) -> doc.Blocks:
    """Read the children of a node; inline ones between blocks are a paragraph."""
    if depth > _DEEPEST:
        return _words_only(parent)
    blocks: list[doc.Block] = []
    for inline, group in groupby(children_of(parent), is_inline):
        if inline:
            blocks.append(doc.Paragraph(read_inlines(group)))
        else:
            blocks += (block for node in group for block in _block(node, depth))
    return tuple(blocks)


def _block(node: Node, depth: int) -> Iterator[doc.Block]:
    match kind_of(node):
        case "paragraph" | "caption":
            yield doc.Paragraph(read_inlines(children_of(node)))
        case "heading":
            yield doc.Heading(_level(node), read_inlines(children_of(node)))
        case "codeBlock":
            yield _code(node)
        case "blockquote":
            yield doc.BlockQuote(_blocks(node, depth + 1))
        case "bulletList" | "orderedList" | "taskList" | "decisionList":
            yield doc.ListBlock(tuple(_items(node, depth + 1)), _start(node))
        case "table":
            yield from _table(node, depth + 1)
        case "rule":
            yield doc.HorizontalRule()
        case "media":
            yield doc.Paragraph((picture_of(node),))
        case "blockCard" | "embedCard":
            yield doc.Paragraph((link_to(attribute(node, "url")),))
        case _:
            yield from _container(node, depth)


def _container(node: Node, depth: int) -> Iterator[doc.Block]:
    """Read an expand, a panel, a layout, an extension, or what is yet to come."""
    if title := attribute(node, "title"):
        yield doc.Paragraph((doc.Strong((doc.PlainText(title),)),))
    if words := attribute(node, "text") or text_of(node):
        yield doc.Paragraph((doc.PlainText(words),))
    yield from _blocks(node, depth + 1)


def _words_only(node: Node) -> doc.Blocks:
    words = words_below(node)
    return (doc.Paragraph((doc.PlainText(words),)),) if words else ()


def _level(heading: Node) -> int:
    level = attribute(heading, "level")
    return int(level) if level in {"1", "2", "3", "4", "5", "6"} else 1


def _start(items: Node) -> int | None:
    if kind_of(items) != "orderedList":
        return None
    order = _NUMBER.fullmatch(attribute(items, "order"))
    return int(order[0]) if order else 1


def _code(node: Node) -> doc.CodeBlock:
    text = words_below(node).replace("\r\n", "\n").replace("\r", "\n")
    return doc.CodeBlock(text, attribute(node, "language"))


def _items(parent: Node, depth: int) -> list[doc.ListItem]:
    items: list[doc.ListItem] = []
    for node in children_of(parent):
        if kind_of(node) != "taskList":
            items.append(doc.ListItem(_blocks(node, depth), _checked(node)))
        elif depth <= _DEEPEST:
            # The list below a task stands beside it.
            above = items.pop() if items else doc.ListItem(())
            inner = tuple(_block(node, depth))
            items.append(replace(above, blocks=(*above.blocks, *inner)))
    return items


def _checked(item: Node) -> bool | None:
    if kind_of(item) not in {"taskItem", "blockTaskItem"}:
        return None
    return attribute(item, "state") == "DONE"


def _table(table: Node, depth: int) -> Iterator[doc.Block]:
    """Read a table; one with more than lines in its cells becomes a list of rows."""
    rows = [children_of(row) for row in children_of(table)]
    if any(not _has_lines_only(cell) for row in rows for cell in row):
        yield doc.ListBlock(
            tuple(doc.ListItem(_row_blocks(row, depth)) for row in rows)
        )
    elif rows:
        yield _grid(rows, depth)


def _row_blocks(row: list[Node], depth: int) -> doc.Blocks:
    return tuple(block for cell in row for block in _blocks(cell, depth + 1))


def _has_lines_only(cell: Node) -> bool:
    return all(
        is_inline(node) or kind_of(node) in _ROWS_OF_LINES for node in children_of(cell)
    )


def _grid(rows: list[list[Node]], depth: int) -> doc.Table:
    width = max(map(len, rows))
    cells = [tuple(_cell(_blocks(cell, depth + 1)) for cell in row) for row in rows]
    padded = [row + ((),) * (width - len(row)) for row in cells]
    if all(kind_of(cell) == "tableHeader" for cell in rows[0]):
        return doc.Table(padded[0], tuple(padded[1:]))
    return doc.Table(((),) * width, tuple(padded))


def _cell(blocks: doc.Blocks) -> doc.Inlines:
    lines: list[doc.Inline] = []
    for block in blocks:
        if isinstance(block, doc.Paragraph | doc.Heading) and block.children:
            lines += [doc.LineBreak(), *block.children] if lines else block.children
    return tuple(lines)
