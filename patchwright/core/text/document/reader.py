"""Our Markdown read into a document."""

import re
from collections.abc import Iterator
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from patchwright.core.text.block_rules import add_tables
from patchwright.core.text.document import types as doc
from patchwright.core.text.document.inlines import (
    LINK_SOURCE,
    read_html_inlines,
    read_inlines,
    without_comments,
)
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.inline_rules import add_inline_rules, is_too_deep, link
from patchwright.core.text.markdown import plain_lines

_TO_SOMEBODY: Final = re.compile(r"[\s*_~(\[]*@[^\W_]")
# Every level costs Python stack, here and for the readers of the document.
_MAX_NESTING: Final = 32


def parse_markdown(text: str) -> list[Token] | None:
    """Return the tokens, or None where it is nested too deeply to be read."""
    env: dict[str, Any] = {}
    tokens: list[Token] = _PARSER.parse(text, env)
    too_deep = any(token.level >= _MAX_NESTING - 1 for token in tokens)
    return None if too_deep or is_too_deep(env) else tokens


def _sourced_link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - parser's
    start, known = state.pos, len(state.tokens)
    if not link(state, silent):
        return False
    opened = (t for t in state.tokens[known:] if t.type == "link_open")
    if (first := next(opened, None)) is not None:
        first.meta[LINK_SOURCE] = state.src[start : state.pos]
    return True


def _reference(
    state: StateBlock,
    start_line: int,
    end_line: int,
    silent: bool,  # noqa: FBT001 - parser's call
) -> bool:
    """Leave footnotes as the text they are: as link definitions they would vanish."""
    begin = state.bMarks[start_line] + state.tShift[start_line]
    if state.src.startswith("[^", begin):
        return False
    return reference(state, start_line, end_line, silent)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    parser.enable("strikethrough")
    add_tables(parser)
    add_inline_rules(parser)
    parser.inline.ruler.at("link", _sourced_link)
    parser.block.ruler.at("reference", _reference)
    return parser


_PARSER: Final = _parser()


# What browsers show where there is no summary.
_UNNAMED: Final = (doc.PlainText("Details"),)
_DEEPEST: Final = 12
_FOLDING: Final = re.compile(
    r"(?P<opens><details\b[^<>]*>)|(?P<closes></details\s*>)"
    r"|<summary\b[^<>]*>(?P<title>(?:[^<]|<(?!/?(?:summary|details)\b))*+)</summary\s*>",
    re.IGNORECASE,
)


class _OpenDetails:
    def __init__(self) -> None:
        self.title: doc.Inlines = ()
        self.blocks: list[doc.Block] = []


class BlockBuilder:
    """The blocks of one container; what is open at its end ends with it.

    `depth` is that of the container itself.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._blocks: list[doc.Block] = []
        self._folds: list[_OpenDetails] = []
        self._too_deep = 0

    @property
    def depth(self) -> int:
        return self._depth + len(self._folds)

    def add(self, block: doc.Block) -> None:
        inside = self._folds[-1].blocks if self._folds else self._blocks
        inside.append(block)

    def add_html(self, text: str) -> None:
        done = 0
        text = without_comments(text)
        for found in _FOLDING.finditer(text):
            self._add_text(text[done : found.start()])
            self._add_folding(found)
            done = found.end()
        self._add_text(text[done:])

    def result(self) -> doc.Blocks:
        while self._folds:
            self._close()
        return tuple(self._blocks)

    def _add_text(self, text: str) -> None:
        for part in _paragraphs(text):
            self.add(doc.Paragraph(part))

    def _add_folding(self, found: re.Match[str]) -> None:
        if found["opens"]:
            self._open()
        elif found["closes"]:
            self._close()
        else:
            self._entitle(read_html_inlines(found["title"]))

    def _open(self) -> None:
        if self.depth >= _DEEPEST:
            self._too_deep += 1
        else:
            self._folds.append(_OpenDetails())

    def _close(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
        elif self._folds:
            fold = self._folds.pop()
            self.add(doc.Details(fold.title or _UNNAMED, tuple(fold.blocks)))

    def _entitle(self, title: doc.Inlines) -> None:
        fold = self._folds[-1] if self._folds else None
        if fold and not (self._too_deep or fold.title or fold.blocks):
            fold.title = title
        elif title:
            self.add(doc.Paragraph((doc.Strong(title),)))


def _paragraphs(text: str) -> Iterator[doc.Inlines]:
    for part in re.split(r"\n[ \t]*\n", text):
        if inlines := read_html_inlines(part):
            yield inlines


_BOX: Final = re.compile(r"\[([ xX])\][ \t]+")
_ALERT: Final = re.compile(
    r"[ \t]*\[!(note|tip|important|warning|caution)\][ \t]*", re.IGNORECASE
)


def read_document(markdown: str) -> doc.Blocks:
    """Return what a forge would show of a comment; HTML that it has is mostly text.

    What is nested too deeply to be read is shown as it was written.
    """
    text = markdown.replace("\r\n", "\n").replace("\r", "\n")
    tokens = parse_markdown(text)
    if tokens is None:
        return (doc.CodeBlock(text.strip("\n")),)
    return _blocks(iter(tokens), 0)


def _blocks(tokens: Iterator[Token], depth: int) -> doc.Blocks:
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


def _block(token: Token, tokens: Iterator[Token], depth: int) -> doc.Block:
    match token.type:
        case "heading_open":
            return doc.Heading(int(token.tag[1:]), _inlines(tokens))
        case "blockquote_open":
            return _quote(_blocks(tokens, depth))
        case "bullet_list_open":
            return doc.ListBlock(tuple(_items(tokens, depth)))
        case "ordered_list_open":
            start = token.attrGet("start")
            return doc.ListBlock(
                tuple(_items(tokens, depth)), 1 if start is None else int(start)
            )
        case "table_open":
            return _grid(tokens)
        case "fence" | "code_block":
            language = token.info.split(maxsplit=1)[:1]
            return doc.CodeBlock(token.content.removesuffix("\n"), "".join(language))
        case "hr":
            return doc.HorizontalRule()
        case _:
            return doc.Paragraph(_inlines(tokens))


def _inlines(tokens: Iterator[Token]) -> doc.Inlines:
    """Read the one token in a block of text, and what closes that."""
    inlines = read_inlines(next(tokens))
    next(tokens)
    return inlines


def _items(tokens: Iterator[Token], depth: int) -> Iterator[doc.ListItem]:
    for token in tokens:
        if token.nesting < 0:
            return
        yield _item(_blocks(tokens, depth))


def _item(blocks: doc.Blocks) -> doc.ListItem:
    match blocks:
        case (doc.Paragraph(children=(doc.PlainText(text), *others)), *rest):
            box = _BOX.match(text)
        case _:
            return doc.ListItem(blocks)
    if box is None:
        return doc.ListItem(blocks)
    left = text[box.end() :]
    first = doc.Paragraph((doc.PlainText(left), *others) if left else tuple(others))
    return doc.ListItem((first, *rest), checked=box[1] != " ")


def _quote(blocks: doc.Blocks) -> doc.BlockQuote:
    """Return a quote; the kind of an alert stands alone on its first line."""
    match blocks:
        case (doc.Paragraph(children=(doc.PlainText(text),)), *rest):
            first: doc.Blocks = ()
        case (
            doc.Paragraph(children=(doc.PlainText(text), doc.LineBreak(), *others)),
            *rest,
        ):
            first = (doc.Paragraph(tuple(others)),)
        case _:
            return doc.BlockQuote(blocks)
    kind = _ALERT.fullmatch(text)
    return (
        doc.BlockQuote((*first, *rest), kind[1].lower())
        if kind
        else doc.BlockQuote(blocks)
    )


def _grid(tokens: Iterator[Token]) -> doc.Table:
    rows: list[tuple[doc.Inlines, ...]] = []
    cells: list[doc.Inlines] = []
    for token in tokens:
        if token.type == "inline":
            cells.append(read_inlines(token))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
            cells = []
        elif token.type == "table_close":
            break
    return doc.Table(rows[0], tuple(rows[1:]))


def own_words(text: str) -> str:
    """Return a comment without what it quotes from others, and what it hides."""
    visible = plain_lines(strip_hidden(text).text)
    lines = visible.split("\n")
    for token in parse_markdown(visible) or ():
        if token.type == "blockquote_open" and token.level == 0 and token.map:
            first, end = token.map
            lines[first:end] = [""] * (end - first)
    return "\n".join(lines).strip()


def is_to_somebody_else(words: str) -> bool:
    """Tell whether a comment without a mention of ours begins with somebody else's."""
    return _TO_SOMEBODY.match(words) is not None
