"""Read footnotes as GitHub does, and know which of them are shown.

https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#footnotes
"""

import re
from collections.abc import MutableMapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_DEFINED, _USED = "footnotes_defined", "footnotes_used"
_LABEL, _REPEATS = "label", "repeats"
_DEFINITION = re.compile(r"\[\^([^\]\s\0]+)\]:[ \t]*")
_REFERENCE = re.compile(r"\[\^([^\]\[\s\0]+)\]")
# What a line needs to go on with the footnote above it.
_INDENTATION = 4
_TAB = 4

Names = MutableMapping[str, Any]


def add_footnotes(parser: MarkdownIt) -> None:
    """Teach the parser definitions, which hold blocks, and references to them."""
    interrupts: RuleOptionsType = {
        "alt": ["paragraph", "reference", "blockquote", "list"]
    }
    parser.block.ruler.before("reference", "footnote", _definition, interrupts)
    parser.inline.ruler.after("image", "footnote_reference", _reference)


def is_shown(footnote: Token, env: Names) -> bool:
    """Tell whether something refers to a definition that is the first of its name."""
    label: str = footnote.meta[_LABEL]
    return label in env.get(_USED, ()) and not footnote.meta[_REPEATS]


def _definition(
    state: StateBlock,
    start_line: int,
    end_line: int,
    silent: bool,  # noqa: FBT001 - parser's call
) -> bool:
    if state.is_code_block(start_line):
        return False
    begin = state.bMarks[start_line] + state.tShift[start_line]
    match = _DEFINITION.match(state.src, begin, state.eMarks[start_line])
    if match is None or silent:
        return match is not None
    label = normalizeReference(match[1])
    known = state.env.setdefault(_DEFINED, [])
    meta = {_LABEL: label, _REPEATS: label in known}
    known.append(label)
    token = state.push("footnote_open", "", 1)
    token.meta = meta
    token.map = [start_line, 0]
    _read_content(state, start_line, end_line, match.end())
    token.map[1] = state.line
    state.push("footnote_close", "", -1).meta = meta
    return True


def _read_content(
    state: StateBlock, start_line: int, end_line: int, begin: int
) -> None:
    """Let the blocks of a footnote be read, as if its first line began after `]:`."""
    columns = (state.bMarks, state.tShift, state.sCount, state.bsCount)
    kept = [column[start_line] for column in columns]
    indent, parent = state.blkIndent, state.parentType
    width = _column(state, start_line, begin)
    state.blkIndent += _INDENTATION
    state.parentType = "footnote"
    # The content counts as indented as much as the lines that go on with it; tabs in
    # it reach to where they would in the whole line.
    first = (begin, 0, state.blkIndent, width - state.blkIndent)
    for column, value in zip(columns, first, strict=True):
        column[start_line] = value
    state.md.block.tokenize(state, start_line, end_line)
    state.blkIndent, state.parentType = indent, parent
    for column, value in zip(columns, kept, strict=True):
        column[start_line] = value


def _column(state: StateBlock, line: int, end: int) -> int:
    begin = state.bMarks[line] + state.tShift[line]
    column = state.sCount[line] + state.bsCount[line]
    for sign in state.src[begin:end]:
        column += _TAB - column % _TAB if sign == "\t" else 1
    return column


def _reference(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - parser's call
    match = _REFERENCE.match(state.src, state.pos, state.posMax)
    label = normalizeReference(match[1]) if match else ""
    if match is None or label not in state.env.get(_DEFINED, ()):
        return False
    if not silent:
        state.env.setdefault(_USED, []).append(label)
        state.push("footnote_reference", "", 0)
    state.pos = match.end()
    return True
