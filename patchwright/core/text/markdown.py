"""Read Markdown as a forge shows it, and know where each piece was written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, backtick, entity
from markdown_it.token import Token

from patchwright.core.text.block_rules import (
    SourceLines,
    add_footnotes,
    add_tables,
    cell_start,
    is_shown,
    locate_in_cell,
)
from patchwright.core.text.inline_rules import (
    add_inline_rules,
    html_inline,
    image,
    is_too_deep,
    link,
)

# Every level of nesting costs Python stack; nobody writes this many by hand.
_MAX_NESTING = 100
_SPAN = "span"

InlineRule = Callable[[StateInline, bool], bool]


class PieceKind(StrEnum):
    AT = "at"
    CODE = "code"
    FENCE = "fence"
    HTML = "html"
    LINK = "link"
    IMAGE = "image"
    ENTITY = "entity"
    DEFINITION = "definition"
    UNUSED_NOTE = "unused-note"


@dataclass(frozen=True, slots=True)
class MarkdownPiece:
    """A part of the source that is not plain prose, or an `@` in it.

    `quoted` is true inside a block quote, `linked` inside the text of a link, `unseen`
    inside a footnote that nothing refers to, which is not shown. `label` is that of a
    link definition, or of the one that a link or image uses. `content` is the
    alternative text of an image and the character of an entity, `info` what follows
    the opening marks of a fence.
    """

    kind: PieceKind
    start: int
    end: int
    quoted: bool = False
    linked: bool = False
    unseen: bool = False
    label: str = ""
    title: str = ""
    href: str = ""
    content: str = ""
    info: str = ""


@dataclass(frozen=True, slots=True)
class MarkdownSource:
    """A text whose lines end with a line feed, and the pieces found in it.

    `too_deep` says that parts of it were nested too deeply to be read.
    """

    text: str
    pieces: tuple[MarkdownPiece, ...]
    too_deep: bool


def plain_lines(text: str) -> str:
    """Return the text as it is read, with a line feed at the end of each line."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def read_markdown(text: str) -> MarkdownSource:
    text = plain_lines(text)
    env: dict[str, Any] = {}
    tokens = _PARSER.parse(text, env)
    lines = SourceLines(text)
    pieces = [*_block_pieces(tokens, lines, env), *_definitions(env, lines)]
    too_deep = is_too_deep(env) or any(
        token.level >= _MAX_NESTING - 1 for token in tokens
    )
    return MarkdownSource(
        text, tuple(sorted(pieces, key=lambda piece: piece.start)), too_deep
    )


def _block_pieces(
    tokens: list[Token], lines: SourceLines, env: dict[str, Any]
) -> Iterator[MarkdownPiece]:
    quotes = notes = 0
    for token in tokens:
        if token.type in {"blockquote_open", "blockquote_close"}:
            quotes += token.nesting
        elif token.type in {"footnote_open", "footnote_close"}:
            notes += 0 if is_shown(token, env) else token.nesting
        where = MarkdownPiece(PieceKind.AT, 0, 0, quoted=quotes > 0, unseen=notes > 0)
        yield from _pieces_of(token, lines, where)


def _pieces_of(
    token: Token, lines: SourceLines, where: MarkdownPiece
) -> Iterator[MarkdownPiece]:
    """Yield what a block consists of; `where` is a piece in the same surroundings."""
    if token.type == "inline":
        yield from _inline_pieces(token, lines, where)
        return
    kind = _BLOCKS.get(token.type)
    if kind is PieceKind.UNUSED_NOTE and not where.unseen:
        return
    if kind is not None:
        start, end = lines.span(token)
        yield replace(where, kind=kind, start=start, end=end, info=token.info)


def _inline_pieces(
    block: Token, lines: SourceLines, where: MarkdownPiece
) -> Iterator[MarkdownPiece]:
    locate = _locator(block, lines)
    links = 0
    for token in block.children or []:
        if span := token.meta.get(_SPAN):
            yield replace(
                where,
                kind=span[0],
                start=locate(span[1]),
                end=locate(span[2] - 1) + 1,
                linked=links > 0,
                label=token.meta.get("label", ""),
                title=str(token.attrGet("title") or ""),
                href=str(token.attrGet("src") or token.attrGet("href") or ""),
                content=token.content,
            )
        if token.type in {"link_open", "link_close"}:
            links += token.nesting


def _locator(block: Token, lines: SourceLines) -> Callable[[int], int]:
    start = cell_start(block)
    if start is not None:
        return locate_in_cell(block.content, start)
    return lines.locate(block.content, (block.map or [0])[0])


def _definitions(env: dict[str, Any], lines: SourceLines) -> Iterator[MarkdownPiece]:
    known = [{**ref, "label": name} for name, ref in env.get("references", {}).items()]
    for ref in [*known, *env.get("duplicate_refs", [])]:
        first, last = ref["map"]
        start = lines.starts[first] + lines.lines[first].find("[")
        end = min(lines.starts[last], lines.size)
        yield MarkdownPiece(
            PieceKind.DEFINITION, start, end, label=ref["label"], title=ref["title"]
        )


_BLOCKS = {
    "fence": PieceKind.FENCE,
    "code_block": PieceKind.CODE,
    "html_block": PieceKind.HTML,
    "footnote_open": PieceKind.UNUSED_NOTE,
}


def _recorded(rule: InlineRule, kind: PieceKind) -> InlineRule:
    """Let a rule of the parser leave the place it was applied to in its token."""

    def run(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - parser's call
        start, known = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        for token in state.tokens[known:]:
            if token.type != "text":
                token.meta.setdefault(_SPAN, (kind, start, state.pos))
                break
        return True

    return run


def _at_sign(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - parser's call
    if state.src[state.pos] != "@":
        return False
    if not silent:
        state.push("at", "", 0).content = "@"
    state.pos += 1
    return True


class _MarkdownParser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - parser's name
        """Take every address: a title is hidden, whatever a browser refuses to open."""
        del url
        return True


def _parser() -> MarkdownIt:
    parser = _MarkdownParser("commonmark", {"maxNesting": _MAX_NESTING})
    # Joining would drop the tokens of entities, and the places kept in them.
    parser.disable("text_join")
    add_tables(parser)
    add_footnotes(parser)
    add_inline_rules(parser)
    rules = parser.inline.ruler
    rules.at("backticks", _recorded(backtick, PieceKind.CODE))
    rules.at("html_inline", _recorded(html_inline, PieceKind.HTML))
    rules.at("link", _recorded(link, PieceKind.LINK))
    rules.at("autolink", _recorded(autolink, PieceKind.LINK))
    rules.at("image", _recorded(image, PieceKind.IMAGE))
    rules.at("entity", _recorded(entity, PieceKind.ENTITY))
    rules.push("at", _recorded(_at_sign, PieceKind.AT))
    return parser


_PARSER = _parser()
