"""Parse Markdown into tokens, for the document."""

from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from patchwright.core.text.document.inlines import LINK_SOURCE
from patchwright.core.text.inline_rules import add_inline_rules, is_too_deep, link
from patchwright.core.text.tables import add_tables

# Every level costs Python stack, here and for whoever reads the document.
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
