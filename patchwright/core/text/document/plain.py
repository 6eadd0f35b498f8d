"""Leave of inlines the words in them."""

from collections.abc import Iterable
from itertools import groupby

from patchwright.core.text.document.types import (
    Mention,
    Code,
    Inline,
    Inlines,
    LineBreak,
    InlineImage,
    PlainText,
)


def plain_text(inlines: Inlines) -> str:
    """Return what is shown, without markup; a picture is its alternative text."""
    return "".join(map(_words, inlines))


def join_texts(inlines: Iterable[Inline]) -> Inlines:
    """Make one text of neighbouring ones, all at once: each is copied once."""
    joined: list[Inline] = []
    for is_text, group in groupby(inlines, lambda inline: isinstance(inline, PlainText)):
        if not is_text:
            joined += group
        elif words := "".join(one.text for one in group if isinstance(one, PlainText)):
            joined.append(PlainText(words))
    return tuple(joined)


def _words(inline: Inline) -> str:
    match inline:
        case PlainText(text) | Code(text):
            return text
        case LineBreak():
            return "\n"
        case InlineImage(alt=alt):
            return alt
        case Mention(name=name):
            return f"@{name}"
        case _:
            return plain_text(inline.children)
