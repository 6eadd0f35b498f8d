"""Tables and footnotes in Markdown, with the place where each was written."""

import re
from bisect import bisect_right
from collections.abc import Callable, MutableMapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token


class SourceLines:
    """The lines of a text, and where each begins."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.size = len(text)

    def span(self, token: Token) -> tuple[int, int]:
        first, last = token.map or [0, 0]
        return self.starts[first], min(self.starts[last], self.size)

    def locate(self, content: str, first_line: int) -> Callable[[int], int]:
        """Return what maps an offset in a block's content to one in the text.

        A line of the content is its line of the text without what the containers put
        in front of it (`> `, `- `, indentation) and without closing `#`s.
        """
        cuts: list[int] = []
        shifts: list[int] = []
        offset = 0
        for number, line in enumerate(content.split("\n"), first_line):
            column = self.lines[number].rfind(line.lstrip())
            begin = offset + len(line) - len(line.lstrip())
            cuts.append(offset)
            shifts.append(self.starts[number] + column - begin)
            offset += len(line) + 1
        return lambda at: at + shifts[bisect_right(cuts, at) - 1]


_START = "cell_start"
_MAX_COLUMNS = 500
_BETWEEN_CELLS = re.compile(r"[ \t]*(?:\|[ \t]*)*")


def add_tables(parser: MarkdownIt) -> None:
    """Teach the parser tables; they grow out of paragraphs, so all else comes first."""
    interrupts: RuleOptionsType = {"alt": ["paragraph", "reference"]}
    parser.block.ruler.before("lheading", "located_table", _located_table, interrupts)


def cell_start(block: Token) -> int | None:
    """Return where the content of a cell begins; None for what is no cell."""
    start = block.meta.get(_START)
    return start if isinstance(start, int) else None


def locate_in_cell(content: str, start: int) -> Callable[[int], int]:
    """Return what maps an offset in a cell's content to one in the text.

    Each bar in it was written with a backslash, which is not a part of the content.
    """
    bars = [at for at, sign in enumerate(content) if sign == "|"]
    return lambda at: start + at + bisect_right(bars, at)


def _located_table(
    state: StateBlock,
    start_line: int,
    end_line: int,
    silent: bool,  # noqa: FBT001 - parser's call
) -> bool:
    known = len(state.tokens)
    if _is_too_wide(state, start_line + 1) or not table(
        state, start_line, end_line, silent
    ):
        return False
    row, cursor = -1, 0
    for token in state.tokens[known:]:
        if token.type != "inline" or token.map is None:
            continue
        if token.map[0] != row:
            row = token.map[0]
            cursor = state.bMarks[row] + state.tShift[row]
        cursor = _skip_bars(state.src, cursor)
        token.meta[_START] = cursor
        cursor += len(token.content) + token.content.count("|")
    return True


def _is_too_wide(state: StateBlock, line: int) -> bool:
    """Tell whether each row below would be filled up with too many cells."""
    if line >= state.lineMax:
        return False
    return state.src.count("|", state.bMarks[line], state.eMarks[line]) > _MAX_COLUMNS


def _skip_bars(text: str, cursor: int) -> int:
    between = _BETWEEN_CELLS.match(text, cursor)
    return between.end() if between else cursor


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
