"""Markdown of people and models as HTML of a run's page.

Nothing in it leads anywhere: an address is shown as text beside the words of its link,
and a picture as its alternative text. So no click on the page of a run sends what the
agent has read to another host.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, assert_never

from markupsafe import Markup, escape

from patchwright.core.replay.story import first_line
from patchwright.core.text.document import types as doc
from patchwright.core.text.document.reader import read_document

_SEPARATOR: Final = Markup("\n")
# The page has headings of its own above these.
_HEADING: Final = Markup("<h4>{}</h4>")
_BOX: Final = {
    True: Markup('<input type="checkbox" disabled checked> '),
    False: Markup('<input type="checkbox" disabled> '),
    None: Markup(),
}


# Whoever looks at a run sees the same texts, and to read Markdown is half of a page.
# Longer texts are few on a page, and would take much memory.
_remembered: Final = lru_cache(maxsize=1_000)
_MOST_REMEMBERED_CHARS: Final = 4_000


def prose_html(markdown: str) -> Markup:
    """Return the text as paragraphs, lists, tables and code."""
    is_short = len(markdown) <= _MOST_REMEMBERED_CHARS
    return _known_html(markdown) if is_short else _html(markdown)


def _html(markdown: str) -> Markup:
    return _blocks(read_document(markdown))


def first_words(markdown: str) -> str:
    """Return the first line that says something, without its marks."""
    line = first_line(markdown)
    is_short = len(line) <= _MOST_REMEMBERED_CHARS
    return _known_words(line) if is_short else _words(line)


def _words(line: str) -> str:
    return next(filter(None, map(_first_words, read_document(line))), line)


_known_html: Final = _remembered(_html)
_known_words: Final = _remembered(_words)


def _first_words(block: doc.Block) -> str:
    match block:
        case doc.Paragraph(children) | doc.Heading(_, children):
            return doc.plain_text(children)
        case doc.BlockQuote(blocks):
            return next(filter(None, map(_first_words, blocks)), "")
        case doc.ListBlock(items):
            return next(
                filter(
                    None, (_first_words(one) for item in items for one in item.blocks)
                ),
                "",
            )
        case _:
            return ""


def _blocks(blocks: doc.Blocks) -> Markup:
    return _SEPARATOR.join(map(_block, blocks))


def _block(block: doc.Block) -> Markup:
    match block:
        case doc.Paragraph(children):
            return Markup("<p>{}</p>").format(_inlines(children))
        case doc.Heading(_, children):
            return _HEADING.format(_inlines(children))
        case doc.CodeBlock(text):
            return Markup("<pre>{}</pre>").format(text)
        case doc.BlockQuote(blocks):
            return Markup("<blockquote>{}</blockquote>").format(_blocks(blocks))
        case doc.ListBlock():
            return _list(block)
        case doc.Table(head, rows):
            return _table(head, rows)
        case doc.HorizontalRule():
            return Markup("<hr>")
        case doc.Details(title, blocks):
            return Markup("<details><summary>{}</summary>{}</details>").format(
                _inlines(title), _blocks(blocks)
            )
        case _:
            assert_never(block)


def _list(block: doc.ListBlock) -> Markup:
    items = Markup().join(map(_item, block.items))
    if block.start is None:
        return Markup("<ul>{}</ul>").format(items)
    return Markup('<ol start="{}">{}</ol>').format(block.start, items)


def _item(item: doc.ListItem) -> Markup:
    """Put a first paragraph right after the mark, as in a list of short entries."""
    first, *others = item.blocks or (doc.Paragraph(()),)
    if isinstance(first, doc.Paragraph):
        words, rest = _inlines(first.children), tuple(others)
    else:
        words, rest = Markup(), item.blocks
    return Markup("<li>{}{}{}</li>").format(_BOX[item.checked], words, _blocks(rest))


_TITLE: Final = Markup("<th>{}</th>")
_CELL: Final = Markup("<td>{}</td>")
_ROW: Final = Markup("<tr>{}</tr>")


def _table(
    head: tuple[doc.Inlines, ...], rows: tuple[tuple[doc.Inlines, ...], ...]
) -> Markup:
    titles = _cells(_TITLE, head)
    body = Markup().join(_ROW.format(_cells(_CELL, row)) for row in rows)
    return Markup(
        '<div class="wide"><table><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(titles, body)


def _cells(shape: Markup, cells: Iterable[doc.Inlines]) -> Markup:
    return Markup().join(shape.format(_inlines(cell)) for cell in cells)


def _inlines(inlines: doc.Inlines) -> Markup:
    return Markup().join(map(_inline, inlines))


def _inline(inline: doc.Inline) -> Markup:
    match inline:
        case doc.PlainText(text):
            return escape(text)
        case doc.Code(text):
            return _CODE.format(text)
        case doc.Hyperlink(url, children):
            return _link(url, children)
        case doc.Mention(_, name):
            return Markup("@{}").format(name)
        case doc.InlineImage(url, alt):
            return Markup("[picture: {}]").format(alt or url)
        case doc.LineBreak():
            return Markup("<br>")
        case _:
            return _SHAPES[type(inline)].format(_inlines(inline.children))


_CODE: Final = Markup("<code>{}</code>")
_SHAPES: Final = {
    doc.Strong: Markup("<strong>{}</strong>"),
    doc.Emphasis: Markup("<em>{}</em>"),
    doc.Strike: Markup("<del>{}</del>"),
    doc.Subscript: Markup("<small>{}</small>"),
}


def _link(url: str, children: doc.Inlines) -> Markup:
    words = _inlines(children)
    if doc.plain_text(children).strip() in ("", url):
        return _CODE.format(url)
    return Markup("{} ({})").format(words, _CODE.format(url))
