"""A text with its structure, between the Markdown we write and what services show."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

Inlines = tuple["Inline", ...]
Blocks = tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class PlainText:
    """Words as people read them: nothing in them is markup."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    children: Inlines


@dataclass(frozen=True, slots=True)
class Emphasis:
    children: Inlines


@dataclass(frozen=True, slots=True)
class Strike:
    children: Inlines


@dataclass(frozen=True, slots=True)
class Subscript:
    """Words that matter less: `<sub>` in our messages."""

    children: Inlines


@dataclass(frozen=True, slots=True)
class Hyperlink:
    url: str
    children: Inlines


@dataclass(frozen=True, slots=True)
class Mention:
    """Calls a person by the service's id of them."""

    person_id: str
    name: str


@dataclass(frozen=True, slots=True)
class InlineImage:
    url: str
    alt: str


@dataclass(frozen=True, slots=True)
class LineBreak:
    pass


Inline = (
    PlainText
    | Code
    | Strong
    | Emphasis
    | Strike
    | Subscript
    | Hyperlink
    | Mention
    | InlineImage
    | LineBreak
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    children: Inlines


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    children: Inlines


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines of code; `text` has no line end after the last of them."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class BlockQuote:
    """A quote; with `alert`, such as `warning`, a box that cannot be overlooked."""

    blocks: Blocks
    alert: str = ""


@dataclass(frozen=True, slots=True)
class ListItem:
    """One entry of a list; `checked` is None where it has no box to tick."""

    blocks: Blocks
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class ListBlock:
    """A list; with `start` its entries are numbered from there."""

    items: tuple[ListItem, ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table: every row has as many cells as the head."""

    head: tuple[Inlines, ...]
    rows: tuple[tuple[Inlines, ...], ...]


@dataclass(frozen=True, slots=True)
class HorizontalRule:
    pass


@dataclass(frozen=True, slots=True)
class Details:
    """Something to be opened by who wants to: `<details>` in our messages."""

    title: Inlines
    blocks: Blocks


Block = (
    Paragraph
    | Heading
    | CodeBlock
    | BlockQuote
    | ListBlock
    | Table
    | HorizontalRule
    | Details
)


def plain_text(inlines: Inlines) -> str:
    """Return what is shown, without markup; a picture is its alternative text."""
    return "".join(map(_words, inlines))


def join_texts(inlines: Iterable[Inline]) -> Inlines:
    """Make one text of neighbouring ones, all at once: each is copied once."""
    joined: list[Inline] = []
    for is_text, group in groupby(
        inlines, lambda inline: isinstance(inline, PlainText)
    ):
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
