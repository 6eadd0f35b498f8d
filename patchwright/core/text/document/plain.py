"""Leave of inlines the words in them."""

from patchwright.core.text.document.types import (
    Call,
    Code,
    Inline,
    Inlines,
    LineBreak,
    Picture,
    Text,
)


def plain_text(inlines: Inlines) -> str:
    """Return what is shown, without markup; a picture is its alternative text."""
    return "".join(map(_words, inlines))


def _words(inline: Inline) -> str:
    match inline:
        case Text(text) | Code(text):
            return text
        case LineBreak():
            return "\n"
        case Picture(alt=alt):
            return alt
        case Call(name=name):
            return f"@{name}"
        case _:
            return plain_text(inline.children)
