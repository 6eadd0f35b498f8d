"""A text with its structure, between the Markdown we write and what services show."""

from dataclasses import dataclass

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
    PlainText | Code | Strong | Emphasis | Strike | Subscript | Hyperlink | Mention | InlineImage | LineBreak
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


Block = Paragraph | Heading | CodeBlock | BlockQuote | ListBlock | Table | HorizontalRule | Details
