"""Show words of others so that they are known as theirs, and do nothing."""

from typing import Final

from patchwright.core.text.active import TextPlace, make_inert, visible_lines
from patchwright.core.text.document.inert import InertWriter
from patchwright.core.text.document.read import read_document
from patchwright.core.text.document.types import (
    Blocks,
    Code,
    CodeBlock,
    Inlines,
    Paragraph,
    PlainText,
)
from patchwright.core.text.document.write import write_document_line, write_document_lines

# What takes longer to read than anybody's words is shown as it was written.
_MOST_BRACKETS: Final = 1_500
_BEFORE: Final = "x "


def quoted(text: str, keeps: tuple[str, ...] = ()) -> str:
    """Return a quotation in Markdown that nothing in the text can end."""
    lines = inert_prose(text, keeps).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines) if any(lines) else ""


def quoted_plain(text: str) -> str:
    """Return a quotation for where there is no Markdown, such as a commit's message."""
    lines = make_inert(text, TextPlace.PLAIN).strip().split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines) if any(lines) else ""


def inert_prose(text: str, keeps: tuple[str, ...] = (), calls: str = "") -> str:
    """Return a text as Markdown of words, lists and code, and of nothing else.

    Links to what `keeps` begins stay links, and the login `calls` is still called.
    """
    lines = write_document_lines(InertWriter(keeps, calls).blocks(_read(text)))
    # What two pieces make together is seen only where both are written.
    return make_inert("\n".join(lines), TextPlace.CODE)


def inert_phrase(text: str, keeps: tuple[str, ...] = ()) -> str:
    """Return a text as one line of Markdown, to stand in a list or a sentence."""
    line = write_document_line(InertWriter(keeps).inlines(_read_line(text)))
    return make_inert(line, TextPlace.CODE)


def _read(text: str) -> Blocks:
    shown = visible_lines(text)
    if sum(map(shown.count, "[<`*_")) > _MOST_BRACKETS:
        return (CodeBlock(shown.strip("\n")),)
    return read_document(shown)


def _read_line(text: str) -> Inlines:
    """Read a line as if it stood in a sentence, so that nothing begins a block."""
    match _read(f"{_BEFORE}{' '.join(text.split())}"):
        case (Paragraph((PlainText(first), *others)),):
            return (PlainText(first.removeprefix(_BEFORE)), *others)
        case _:
            return (Code(text),)
