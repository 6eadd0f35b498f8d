"""Bring a document into a form and a length that Jira can show."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeVar, assert_never

from patchwright.core.text.document import types as doc
from patchwright.core.text.strings import truncate_middle

_FOLLOWED: Final = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
# Each of these ends a link, or begins something else, in Markdown or in wiki markup.
_ENDS_A_LINK: Final = re.compile(r"[\x00-\x20\x7f<>\"\\^`{|}\[\]()]")
_LONGEST: Final = 2000


def safe_address(url: str) -> str:
    """Return an address that people may be sent to, or an empty string."""
    url = url.strip()
    if len(url) > _LONGEST or not _FOLLOWED.match(url):
        return ""
    return _ENDS_A_LINK.sub(lambda sign: f"%{ord(sign[0]):02X}", url)


class Style(StrEnum):
    STRONG = "strong"
    EMPHASIS = "emphasis"
    STRIKE = "strike"
    SMALL = "small"


Leaf = doc.PlainText | doc.Code | doc.Mention | doc.LineBreak


@dataclass(frozen=True, slots=True)
class StyledRun:
    leaf: Leaf
    styles: tuple[Style, ...] = ()
    address: str = ""


@dataclass(frozen=True, slots=True)
class _RunStyle:
    styles: tuple[Style, ...] = ()
    address: str = ""

    def with_style(self, style: Style) -> "_RunStyle":
        known = style in self.styles
        return self if known else replace(self, styles=(*self.styles, style))


def styled_runs(inlines: doc.Inlines, *styles: Style) -> Iterator[StyledRun]:
    """Yield what is to be shown; a link that leads nowhere safe is words."""
    return _runs(inlines, _RunStyle(styles))


def _runs(inlines: doc.Inlines, around: _RunStyle) -> Iterator[StyledRun]:
    for inline in inlines:
        match inline:
            case doc.PlainText("") | doc.Code(""):
                pass
            case doc.PlainText() | doc.Code() | doc.Mention() | doc.LineBreak():
                yield StyledRun(inline, around.styles, around.address)
            case doc.Strong(children):
                yield from _runs(children, around.with_style(Style.STRONG))
            case doc.Emphasis(children):
                yield from _runs(children, around.with_style(Style.EMPHASIS))
            case doc.Strike(children):
                yield from _runs(children, around.with_style(Style.STRIKE))
            case doc.Subscript(children):
                yield from _runs(children, around.with_style(Style.SMALL))
            case doc.Hyperlink(url, children):
                yield from _link(url, children, around)
            case doc.InlineImage(url, alt):
                yield from _link(url, (doc.PlainText(alt or url),), around)
            case _:
                assert_never(inline)


def _link(url: str, children: doc.Inlines, around: _RunStyle) -> Iterator[StyledRun]:
    address = safe_address(url) or around.address
    yield from _runs(children, replace(around, address=address))
    if not address and url and children != (doc.PlainText(url),):
        yield StyledRun(doc.PlainText(f" ({url})"), around.styles)


_BOXES: Final = {True: "☑ ", False: "☐ "}


def is_task_list(items: doc.ListBlock) -> bool:
    """Tell whether each entry has a box, a line of words, and no more than tasks."""
    return items.start is None and all(map(_is_task, items.items))


def with_checkbox(item: doc.ListItem) -> doc.Blocks:
    """Return what is in an entry, its box as a sign in front of it."""
    if item.checked is None:
        return item.blocks
    box = doc.PlainText(_BOXES[item.checked])
    match item.blocks:
        case (doc.Paragraph(children), *others):
            return (doc.Paragraph((box, *children)), *others)
        case others:
            return (doc.Paragraph((box,)), *others)


def _is_task(item: doc.ListItem) -> bool:
    if item.checked is None:
        return False
    match item.blocks:
        case () | (doc.Paragraph(),):
            return True
        case (doc.Paragraph(), doc.ListBlock() as inner):
            return is_task_list(inner)
        case _:
            return False


def text_of_blocks(blocks: doc.Blocks) -> str:
    """Return what is shown, a line for each paragraph, without any markup."""
    return "\n".join(_lines(blocks))


def _lines(blocks: doc.Blocks) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, doc.CodeBlock):
            yield block.text
        yield from map(doc.plain_text, _own_inlines(block))
        yield from _lines(_inner_blocks(block))


def _own_inlines(block: doc.Block) -> tuple[doc.Inlines, ...]:
    match block:
        case (
            doc.Paragraph(children)
            | doc.Heading(_, children)
            | doc.Details(children, _)
        ):
            return (children,)
        case doc.Table(head, rows):
            return (*head, *(cell for row in rows for cell in row))
        case (
            doc.CodeBlock() | doc.BlockQuote() | doc.ListBlock() | doc.HorizontalRule()
        ):
            return ()
        case _:
            assert_never(block)


def _inner_blocks(block: doc.Block) -> doc.Blocks:
    match block:
        case doc.BlockQuote(blocks) | doc.Details(_, blocks):
            return blocks
        case doc.ListBlock(items):
            return tuple(inner for item in items for inner in item.blocks)
        case (
            doc.Paragraph()
            | doc.Heading()
            | doc.CodeBlock()
            | doc.Table()
            | doc.HorizontalRule()
        ):
            return ()
        case _:
            assert_never(block)


LONGEST_COMMENT: Final = 32_767
# No sign takes more than this many where it is escaped.
_ESCAPED: Final = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Limits:
    """The most that is left: characters of code and of words, and parts of anything."""

    code: int
    words: int
    parts: int


_MUCH: Final = 1_000_000
_STEPS: Final = (
    *(
        _Limits(code, _MUCH, _MUCH)
        for code in (16_000, 8_000, 4_000, 2_000, 1_000, 500)
    ),
    *(_Limits(500, words, _MUCH) for words in (8_000, 2_000, 500)),
    *(_Limits(500, 500, parts) for parts in (100, 30, 10, 4)),
)


def truncate_document(
    blocks: doc.Blocks, size: Callable[[doc.Blocks], int], limit: int = LONGEST_COMMENT
) -> doc.Blocks:
    """Return blocks whose size is within the limit: head and tail, and a note between.

    Code goes first, and with it what is folded; then long paragraphs, then the middle
    of everything.
    """
    for candidate in _candidates(blocks):
        if size(candidate) <= limit:
            return candidate
    words = truncate_middle(text_of_blocks(blocks), limit // _ESCAPED)
    return (doc.CodeBlock(words),)


def length_in_jira(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _candidates(blocks: doc.Blocks) -> Iterator[doc.Blocks]:
    yield blocks
    before = blocks
    for cut in _STEPS:
        candidate = _Truncator(cut).blocks(blocks)
        if candidate != before:
            yield candidate
        before = candidate


class _Truncator:
    def __init__(self, cut: _Limits) -> None:
        self._cut = cut

    def blocks(self, blocks: doc.Blocks) -> doc.Blocks:
        return self._few(tuple(map(self._block, blocks)), _left_out)

    def _block(self, block: doc.Block) -> doc.Block:
        match block:
            case doc.Paragraph(children):
                return doc.Paragraph(self._inlines(children))
            case doc.Heading(level, children):
                return doc.Heading(level, self._inlines(children))
            case doc.CodeBlock(text, language):
                return doc.CodeBlock(truncate_middle(text, self._cut.code), language)
            case doc.BlockQuote(inner, alert):
                return doc.BlockQuote(self.blocks(inner), alert)
            case doc.ListBlock(items, start):
                cut = tuple(
                    doc.ListItem(self.blocks(i.blocks), i.checked) for i in items
                )
                return doc.ListBlock(
                    self._few(cut, lambda n: doc.ListItem((_left_out(n),))), start
                )
            case doc.Table(head, rows):
                return self._grid(head, rows)
            case doc.Details(title, inner):
                return doc.Details(self._inlines(title), self._folded(inner))
            case doc.HorizontalRule():
                return block
            case _:
                assert_never(block)

    def _grid(
        self, head: tuple[doc.Inlines, ...], rows: tuple[tuple[doc.Inlines, ...], ...]
    ) -> doc.Table:
        def note(count: int) -> tuple[doc.Inlines, ...]:
            return ((doc.PlainText(_note(count)),), *((),) * (len(head) - 1))

        cells = tuple(tuple(map(self._inlines, row)) for row in rows)
        return doc.Table(tuple(map(self._inlines, head)), self._few(cells, note))

    def _folded(self, blocks: doc.Blocks) -> doc.Blocks:
        left = self.blocks(blocks)
        count = len(text_of_blocks(left))
        if count <= 2 * self._cut.code:
            return left
        return (
            doc.Paragraph((doc.PlainText(f"[... {count} characters left out ...]"),)),
        )

    def _inlines(self, inlines: doc.Inlines) -> doc.Inlines:
        cut = tuple(map(self._inline, inlines))
        return self._few(cut, lambda n: doc.PlainText(f" {_note(n)} "))

    def _inline(self, inline: doc.Inline) -> doc.Inline:
        match inline:
            case doc.PlainText(text):
                return doc.PlainText(self._words(text))
            case doc.Code(text):
                return doc.Code(self._words(text))
            case doc.Strong(children):
                return doc.Strong(self._inlines(children))
            case doc.Emphasis(children):
                return doc.Emphasis(self._inlines(children))
            case doc.Strike(children):
                return doc.Strike(self._inlines(children))
            case doc.Subscript(children):
                return doc.Subscript(self._inlines(children))
            case doc.Hyperlink(url, children):
                return doc.Hyperlink(url, self._inlines(children))
            case _:
                return inline

    def _words(self, text: str) -> str:
        if len(text) <= self._cut.words:
            return text
        return " ".join(truncate_middle(text, self._cut.words).split())

    def _few(self, parts: Sequence[T], note: Callable[[int], T]) -> tuple[T, ...]:
        most = self._cut.parts
        if len(parts) <= most:
            return tuple(parts)
        head, tail = most - most // 2, most // 2
        left_out = note(len(parts) - head - tail)
        return (*parts[:head], left_out, *parts[len(parts) - tail :])


def _left_out(count: int) -> doc.Paragraph:
    return doc.Paragraph((doc.PlainText(_note(count)),))


def _note(count: int) -> str:
    return f"[... {count} more ...]"
