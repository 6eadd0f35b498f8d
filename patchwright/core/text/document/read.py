"""Read our Markdown into a document."""

import re
from collections.abc import Iterator
from typing import Final

from markdown_it.token import Token

from patchwright.core.text.document.folds import BlockBuilder
from patchwright.core.text.document.inlines import read_inlines
from patchwright.core.text.document.parser import parse_markdown
from patchwright.core.text.document.types import (
    Block,
    Blocks,
    CodeBlock,
    Table,
    Heading,
    Inlines,
    ListItem,
    ListBlock,
    LineBreak,
    Paragraph,
    BlockQuote,
    HorizontalRule,
    PlainText,
)

_BOX: Final = re.compile(r"\[([ xX])\][ \t]+")
_ALERT: Final = re.compile(
    r"[ \t]*\[!(note|tip|important|warning|caution)\][ \t]*", re.IGNORECASE
)


def read_document(markdown: str) -> Blocks:
    """Return what a forge would show of a comment; HTML that it has is mostly text.

    What is nested too deeply to be read is shown as it was written.
    """
    text = markdown.replace("\r\n", "\n").replace("\r", "\n")
    tokens = parse_markdown(text)
    return _as_written(text) if tokens is None else _blocks(iter(tokens), 0)


def _as_written(text: str) -> Blocks:
    return (CodeBlock(text.strip("\n")),)


def _blocks(tokens: Iterator[Token], depth: int) -> Blocks:
    """Read up to where the container closes that the tokens are in."""
    page = BlockBuilder(depth)
    for token in tokens:
        if token.nesting < 0:
            break
        if token.type == "html_block":
            page.add_html(token.content)
        else:
            page.add(_block(token, tokens, page.depth + 1))
    return page.result()


def _block(token: Token, tokens: Iterator[Token], depth: int) -> Block:
    match token.type:
        case "heading_open":
            return Heading(int(token.tag[1:]), _inlines(tokens))
        case "blockquote_open":
            return _quote(_blocks(tokens, depth))
        case "bullet_list_open":
            return ListBlock(tuple(_items(tokens, depth)))
        case "ordered_list_open":
            start = token.attrGet("start")
            return ListBlock(
                tuple(_items(tokens, depth)), 1 if start is None else int(start)
            )
        case "table_open":
            return _grid(tokens)
        case "fence" | "code_block":
            language = token.info.split(maxsplit=1)[:1]
            return CodeBlock(token.content.removesuffix("\n"), "".join(language))
        case "hr":
            return HorizontalRule()
        case _:
            return Paragraph(_inlines(tokens))


def _inlines(tokens: Iterator[Token]) -> Inlines:
    """Read the one token in a block of text, and what closes that."""
    inlines = read_inlines(next(tokens))
    next(tokens)
    return inlines


def _items(tokens: Iterator[Token], depth: int) -> Iterator[ListItem]:
    for token in tokens:
        if token.nesting < 0:
            return
        yield _item(_blocks(tokens, depth))


def _item(blocks: Blocks) -> ListItem:
    match blocks:
        case (Paragraph(children=(PlainText(text), *others)), *rest):
            box = _BOX.match(text)
        case _:
            return ListItem(blocks)
    if box is None:
        return ListItem(blocks)
    left = text[box.end() :]
    first = Paragraph((PlainText(left), *others) if left else tuple(others))
    return ListItem((first, *rest), checked=box[1] != " ")


def _quote(blocks: Blocks) -> BlockQuote:
    """Return a quote; the kind of an alert stands alone on its first line."""
    match blocks:
        case (Paragraph(children=(PlainText(text),)), *rest):
            first: Blocks = ()
        case (Paragraph(children=(PlainText(text), LineBreak(), *others)), *rest):
            first = (Paragraph(tuple(others)),)
        case _:
            return BlockQuote(blocks)
    kind = _ALERT.fullmatch(text)
    return BlockQuote((*first, *rest), kind[1].lower()) if kind else BlockQuote(blocks)


def _grid(tokens: Iterator[Token]) -> Table:
    rows: list[tuple[Inlines, ...]] = []
    cells: list[Inlines] = []
    for token in tokens:
        if token.type == "inline":
            cells.append(read_inlines(token))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
            cells = []
        elif token.type == "table_close":
            break
    return Table(rows[0], tuple(rows[1:]))
