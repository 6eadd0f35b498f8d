"""Fill in a repository's own template for the text of pull requests."""

from collections.abc import Mapping
from typing import Final

from patchwright.core.text.fence import close_code_block
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.markdown import PieceKind, read_markdown
from patchwright.core.text.templates import render_template

_CODE: Final = (PieceKind.CODE, PieceKind.FENCE)


def fill_body(template: str, values: Mapping[str, str]) -> str:
    """Put the values in; nothing that follows the text is hidden by it.

    Comments go, as they may hold a value that people are to see.
    """
    shown = strip_hidden(template).text
    return close_code_block(render_template(shown, values)).strip()


def is_shown(text: str, part: str) -> bool:
    """Tell whether a text has that part in it, and not as a piece of code."""
    start = text.find(part)
    if start < 0:
        return False
    return not any(
        piece.kind in _CODE and piece.start < start < piece.end
        for piece in read_markdown(text).pieces
    )
