"""Read the inline nodes of an ADF document."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from patchwright.core.text.document.bare_links import link_addresses
from patchwright.core.text.document.types import (
    Mention,
    Code,
    Emphasis,
    Inline,
    Inlines,
    LineBreak,
    Hyperlink,
    Strike,
    Strong,
    PlainText,
)
from patchwright.integrations.jira.text.adf_nodes import (
    Node,
    attribute,
    children_of,
    kind_of,
    marks_of,
    text_of,
    words_below,
)

# From the outside to the inside. Colours, underlines, annotations and the like say
# nothing that Markdown could.
_STYLES: Final[dict[str, Callable[[Inlines], Inline]]] = {
    "strong": Strong,
    "em": Emphasis,
    "strike": Strike,
}
_INLINES: Final = frozenset(
    {
        *("text", "hardBreak", "mention", "emoji", "date", "status", "inlineCard"),
        *("placeholder", "inlineExtension", "mediaInline"),
    }
)


def is_inline(node: Node) -> bool:
    return kind_of(node) in _INLINES


def read_inlines(nodes: Iterable[Node]) -> Inlines:
    groups = groupby(nodes, _address)
    return tuple(
        inline
        for url, linked in groups
        for inline in _linked(url, _styled(list(linked), list(_STYLES)))
    )


def picture_of(media: Node) -> Inline:
    """Return what stands for a file; those of Jira have ids and no addresses."""
    name = attribute(media, "alt") or attribute(media, "type") or "file"
    url = attribute(media, "url")
    return Hyperlink(url, (PlainText(name),)) if url else PlainText(f"[{name}]")


def link_to(url: str) -> Inline:
    return Hyperlink(url, (PlainText(url),))


def _address(node: Node) -> str:
    links = (mark for mark in marks_of(node) if kind_of(mark) == "link")
    return next((attribute(mark, "href") for mark in links), "")


def _linked(url: str, inlines: Inlines) -> Inlines:
    return (Hyperlink(url, inlines),) if url else inlines


def _styled(nodes: list[Node], styles: list[str]) -> Inlines:
    """Put neighbours that share a style into one, as people see them."""
    if not styles:
        return tuple(inline for node in nodes for inline in _leaf(node))
    style, *inner = styles
    inlines: list[Inline] = []
    for has_style, group in groupby(nodes, lambda node: _has_mark(node, style)):
        children = _styled(list(group), inner)
        inlines += [_STYLES[style](children)] if has_style else children
    return tuple(inlines)


def _has_mark(node: Node, kind: str) -> bool:
    return any(kind_of(mark) == kind for mark in marks_of(node))


def _leaf(node: Node) -> Iterator[Inline]:
    match kind_of(node):
        case "text":
            yield from _words(node)
        case "hardBreak":
            yield LineBreak()
        case "mention":
            yield _call(node)
        case "emoji":
            yield PlainText(attribute(node, "text") or attribute(node, "shortName"))
        case "date":
            yield PlainText(_day(attribute(node, "timestamp")))
        case "status" | "inlineExtension":
            yield PlainText(attribute(node, "text"))
        case "inlineCard":
            yield from _card(node)
        case "mediaInline":
            yield picture_of(node)
        case "placeholder":
            return
        case _:
            yield from _lines(words_below(node))


def _words(node: Node) -> Iterator[Inline]:
    if _has_mark(node, "code"):
        yield Code(text_of(node))
    elif _address(node):
        yield from _lines(text_of(node))
    else:
        yield from link_addresses(tuple(_lines(text_of(node))))


def _lines(text: str) -> Iterator[Inline]:
    first, *others = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    yield PlainText(first)
    for line in others:
        yield LineBreak()
        yield PlainText(line)


def _call(node: Node) -> Mention:
    person_id = attribute(node, "id")
    name = (attribute(node, "text") or text_of(node)).removeprefix("@")
    return Mention(person_id, name or person_id)


def _card(node: Node) -> Iterator[Inline]:
    if url := attribute(node, "url"):
        yield link_to(url)
    else:
        yield from (PlainText(words_below(child)) for child in children_of(node))


def _day(timestamp: str) -> str:
    """Return the day of a time in milliseconds, or what is there instead."""
    try:
        return datetime.fromtimestamp(int(timestamp) / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return timestamp
