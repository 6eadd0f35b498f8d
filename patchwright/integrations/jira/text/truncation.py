"""Make a document fit into a comment: what is longest is cut first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar, assert_never

from patchwright.core.text.document.types import (
    Block,
    BlockQuote,
    Blocks,
    Code,
    CodeBlock,
    Details,
    Emphasis,
    Heading,
    HorizontalRule,
    Hyperlink,
    Inline,
    Inlines,
    ListBlock,
    ListItem,
    Paragraph,
    PlainText,
    Strike,
    Strong,
    Subscript,
    Table,
    plain_text,
)
from patchwright.core.text.strings import truncate_middle


def text_of_blocks(blocks: Blocks) -> str:
    """Return what is shown, a line for each paragraph, without any markup."""
    return "\n".join(_lines(blocks))


def _lines(blocks: Blocks) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, CodeBlock):
            yield block.text
        yield from map(plain_text, _own_inlines(block))
        yield from _lines(_inner_blocks(block))


def _own_inlines(block: Block) -> tuple[Inlines, ...]:
    match block:
        case Paragraph(children) | Heading(_, children) | Details(children, _):
            return (children,)
        case Table(head, rows):
            return (*head, *(cell for row in rows for cell in row))
        case CodeBlock() | BlockQuote() | ListBlock() | HorizontalRule():
            return ()
        case _:
            assert_never(block)


def _inner_blocks(block: Block) -> Blocks:
    match block:
        case BlockQuote(blocks) | Details(_, blocks):
            return blocks
        case ListBlock(items):
            return tuple(inner for item in items for inner in item.blocks)
        case Paragraph() | Heading() | CodeBlock() | Table() | HorizontalRule():
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
    blocks: Blocks, size: Callable[[Blocks], int], limit: int = LONGEST_COMMENT
) -> Blocks:
    """Return blocks whose size is within the limit: head and tail, and a note between.

    Code goes first, and with it what is folded; then long paragraphs, then the middle
    of everything.
    """
    for candidate in _candidates(blocks):
        if size(candidate) <= limit:
            return candidate
    words = truncate_middle(text_of_blocks(blocks), limit // _ESCAPED)
    return (CodeBlock(words),)


def length_in_jira(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _candidates(blocks: Blocks) -> Iterator[Blocks]:
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

    def blocks(self, blocks: Blocks) -> Blocks:
        return self._few(tuple(map(self._block, blocks)), _left_out)

    def _block(self, block: Block) -> Block:
        match block:
            case Paragraph(children):
                return Paragraph(self._inlines(children))
            case Heading(level, children):
                return Heading(level, self._inlines(children))
            case CodeBlock(text, language):
                return CodeBlock(truncate_middle(text, self._cut.code), language)
            case BlockQuote(inner, alert):
                return BlockQuote(self.blocks(inner), alert)
            case ListBlock(items, start):
                cut = tuple(ListItem(self.blocks(i.blocks), i.checked) for i in items)
                return ListBlock(
                    self._few(cut, lambda n: ListItem((_left_out(n),))), start
                )
            case Table(head, rows):
                return self._grid(head, rows)
            case Details(title, inner):
                return Details(self._inlines(title), self._folded(inner))
            case HorizontalRule():
                return block
            case _:
                assert_never(block)

    def _grid(
        self, head: tuple[Inlines, ...], rows: tuple[tuple[Inlines, ...], ...]
    ) -> Table:
        def note(count: int) -> tuple[Inlines, ...]:
            return ((PlainText(_note(count)),), *((),) * (len(head) - 1))

        cells = tuple(tuple(map(self._inlines, row)) for row in rows)
        return Table(tuple(map(self._inlines, head)), self._few(cells, note))

    def _folded(self, blocks: Blocks) -> Blocks:
        left = self.blocks(blocks)
        count = len(text_of_blocks(left))
        if count <= 2 * self._cut.code:
            return left
        return (Paragraph((PlainText(f"[... {count} characters left out ...]"),)),)

    def _inlines(self, inlines: Inlines) -> Inlines:
        cut = tuple(map(self._inline, inlines))
        return self._few(cut, lambda n: PlainText(f" {_note(n)} "))

    def _inline(self, inline: Inline) -> Inline:
        match inline:
            case PlainText(text):
                return PlainText(self._words(text))
            case Code(text):
                return Code(self._words(text))
            case Strong(children):
                return Strong(self._inlines(children))
            case Emphasis(children):
                return Emphasis(self._inlines(children))
            case Strike(children):
                return Strike(self._inlines(children))
            case Subscript(children):
                return Subscript(self._inlines(children))
            case Hyperlink(url, children):
                return Hyperlink(url, self._inlines(children))
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


def _left_out(count: int) -> Paragraph:
    return Paragraph((PlainText(_note(count)),))


def _note(count: int) -> str:
    return f"[... {count} more ...]"
