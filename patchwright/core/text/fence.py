"""Put a text where it can't get out of: in code, or in a prompt as data."""

import re
from hashlib import sha256
from itertools import count

from patchwright.core.text.markdown import PieceKind, read_markdown

_MARK_DIGITS = 12
_LONGEST_NAME = 100
_NOT_IN_A_NAME = re.compile(r"[^\w\s@./#:()\[\]+-]")
_FENCE = re.compile(r"`{3,}|~{3,}")


def as_data(label: str, author: str, text: str, role: str = "") -> str:
    """Fence a text for a prompt, between marks that it does not contain.

    The mark depends on the text alone, so that a prompt's beginning stays the same
    from one call to the next. `role` is what the author is in this place, if known.
    """
    mark = f"data-{_find_mark(text)}"
    what = f'what="{_as_name(label)}" author="{_as_name(author)}"'
    known = f' role="{_as_name(role)}"' if role else ""
    return f"<{mark} {what}{known}>\n{text}\n</{mark}>"


def close_code_block(text: str) -> str:
    """End the code block that a text leaves open, so that it holds nothing after it."""
    source = read_markdown(f"{text}\n\nprose")
    opened = [
        piece
        for piece in source.pieces
        if piece.kind is PieceKind.FENCE and piece.end >= len(source.text)
    ]
    fence = _FENCE.search(source.text, opened[0].start) if opened else None
    return f"{text}\n{fence[0]}" if fence else text


def inline_code(text: str) -> str:
    """Return a Markdown code span; line breaks in it become blanks."""
    line = " ".join(text.splitlines())
    if not line.strip():
        return f"` {line} `"
    ticks = _backticks(line)
    # A blank on both sides is taken off again when the span is read.
    # https://spec.commonmark.org/0.31.2/#code-spans
    touches = line[0] in "` " or line[-1] in "` "
    return f"{ticks} {line} {ticks}" if touches else f"{ticks}{line}{ticks}"


def code_block(text: str) -> str:
    """Return a Markdown code block that the text cannot end, all of it visible."""
    shown = "".join(map(_visible, text))
    ticks = _backticks(shown).rjust(3, "`")
    return f"{ticks}\n{shown}\n{ticks}"


def table_code(text: str) -> str:
    """Return a code span for a table's cell, where a bar ends the cell even in code."""
    return inline_code(text).replace("|", "\\|")


def _visible(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return character.encode("unicode_escape").decode()


def _find_mark(text: str) -> str:
    marks = (
        sha256(f"{salt}:{text}".encode("utf-8", "surrogatepass")).hexdigest()
        for salt in count()
    )
    lowered = text.lower()
    return next(m for mark in marks if (m := mark[:_MARK_DIGITS]) not in lowered)


def _as_name(text: str) -> str:
    words = _NOT_IN_A_NAME.sub("", text).split()
    return " ".join(words)[:_LONGEST_NAME]


def _backticks(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * (longest + 1)
