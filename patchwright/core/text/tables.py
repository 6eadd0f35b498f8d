"""Read tables, and know where each cell was written."""

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

_START = "cell_start"
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
    return lambda at: start + at + content.count("|", 0, at + 1)


def _located_table(
    state: StateBlock,
    start_line: int,
    end_line: int,
    silent: bool,  # noqa: FBT001 - parser's call
) -> bool:
    known = len(state.tokens)
    if not table(state, start_line, end_line, silent):
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


def _skip_bars(text: str, cursor: int) -> int:
    between = _BETWEEN_CELLS.match(text, cursor)
    return between.end() if between else cursor
