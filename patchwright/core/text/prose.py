"""Leave of a Markdown text what its readers see and do not take for code."""

from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.markdown import PieceKind, read_markdown

_CODE = frozenset({PieceKind.CODE, PieceKind.FENCE})


def visible_prose(text: str) -> str:
    """Return the text with blanks for its code, and without what is hidden in it.

    Links and images stay as they are written.
    """
    source = read_markdown(strip_hidden(text).text)
    parts: list[str] = []
    done = 0
    for piece in source.pieces:
        if piece.kind in _CODE and piece.start >= done:
            parts += [source.text[done : piece.start], " "]
            done = piece.end
    return "".join([*parts, source.text[done:]])
