"""Show words of others so that they are known as theirs, and do nothing."""

from typing import Final

from patchwright.core.text.active import Place, inert, plain
from patchwright.core.text.document.inert import Inert
from patchwright.core.text.document.read import read_document
from patchwright.core.text.document.types import (
    Blocks,
    Code,
    CodeBlock,
    Inlines,
    Paragraph,
    Text,
)
from patchwright.core.text.document.write import write_line, write_words

# What takes longer to read than anybody's words is shown as it was written.
_MOST_BRACKETS: Final = 1_500
_BEFORE: Final = "x "


def quoted(text: str, keeps: tuple[str, ...] = ()) -> str:
    """Return a quotation in Markdown that nothing in the text can end."""
    lines = prose(text, keeps).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines) if any(lines) else ""


def quoted_plain(text: str) -> str:
    """Return a quotation for where there is no Markdown, such as a commit's message."""
    lines = inert(text, Place.PLAIN).strip().split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines) if any(lines) else ""


def prose(text: str, keeps: tuple[str, ...] = (), calls: str = "") -> str:
    """Return a text as Markdown of words, lists and code, and of nothing else.

    Links to what `keeps` begins stay links, and the login `calls` is still called.
    """
    lines = write_words(Inert(keeps, calls).blocks(_read(text)))
    # What two pieces make together is seen only where both are written.
    return inert("\n".join(lines), Place.CODE)


def phrase(text: str, keeps: tuple[str, ...] = ()) -> str:
    """Return a text as one line of Markdown, to stand in a list or a sentence."""
    line = write_line(Inert(keeps).inlines(_read_line(text)))
    return inert(line, Place.CODE)


def _read(text: str) -> Blocks:
    shown = plain(text)
    if sum(map(shown.count, "[<`*_")) > _MOST_BRACKETS:
        return (CodeBlock(shown.strip("\n")),)
    return read_document(shown)


def _read_line(text: str) -> Inlines:
    """Read a line as if it stood in a sentence, so that nothing begins a block."""
    match _read(f"{_BEFORE}{' '.join(text.split())}"):
        case (Paragraph((Text(first), *others)),):
            return (Text(first.removeprefix(_BEFORE)), *others)
        case _:
            return (Code(text),)
