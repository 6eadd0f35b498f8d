"""Read tables, and know where each cell was written."""

import re
from bisect import bisect_right
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

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
