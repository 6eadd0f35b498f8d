"""Make a document fit into a comment: what is longest is cut first.

https://jira.atlassian.com/browse/JRASERVER-64351: 32,767 characters, of UTF-16 as Jira
is written in Java.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar, assert_never

from patchwright.core.text.cut import cut_middle
from patchwright.core.text.document.types import (
    Block,
    Blocks,
    Code,
    CodeBlock,
    Emphasis,
    Fold,
    Grid,
    Heading,
    Inline,
    Inlines,
    Item,
    Items,
    Link,
    Paragraph,
    Quote,
    Rule,
    Small,
    Strike,
    Strong,
    Text,
)
from patchwright.integrations.jira.text.walking import words_of

LONGEST_COMMENT: Final = 32_767
# No sign takes more than this many where it is escaped.
_ESCAPED: Final = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Cut:
    """The most that is left: characters of code and of words, and parts of anything."""

    code: int
    words: int
    parts: int


_MUCH: Final = 1_000_000
_CUTS: Final = (
    *(_Cut(code, _MUCH, _MUCH) for code in (16_000, 8_000, 4_000, 2_000, 1_000, 500)),
    *(_Cut(500, words, _MUCH) for words in (8_000, 2_000, 500)),
    *(_Cut(500, 500, parts) for parts in (100, 30, 10, 4)),
)


def fit(
    blocks: Blocks, size: Callable[[Blocks], int], limit: int = LONGEST_COMMENT
) -> Blocks:
    """Return blocks whose size is within the limit: head and tail, and a note between.

    Code goes first, and with it what is folded; then long paragraphs, then the middle
    of everything.
    """
    for candidate in _candidates(blocks):
        if size(candidate) <= limit:
            return candidate
    words = cut_middle(words_of(blocks), limit // _ESCAPED)
    return (CodeBlock(words),)


def length_in_jira(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _candidates(blocks: Blocks) -> Iterator[Blocks]:
    yield blocks
    before = blocks
    for cut in _CUTS:
        candidate = _Cutter(cut).blocks(blocks)
        if candidate != before:
            yield candidate
        before = candidate


class _Cutter:
    def __init__(self, cut: _Cut) -> None:
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
                return CodeBlock(cut_middle(text, self._cut.code), language)
            case Quote(inner, alert):
                return Quote(self.blocks(inner), alert)
            case Items(items, start):
                cut = tuple(Item(self.blocks(i.blocks), i.checked) for i in items)
                return Items(self._few(cut, lambda n: Item((_left_out(n),))), start)
            case Grid(head, rows):
                return self._grid(head, rows)
            case Fold(title, inner):
                return Fold(self._inlines(title), self._folded(inner))
            case Rule():
                return block
            case _:
                assert_never(block)

    def _grid(
        self, head: tuple[Inlines, ...], rows: tuple[tuple[Inlines, ...], ...]
    ) -> Grid:
        def note(count: int) -> tuple[Inlines, ...]:
            return ((Text(_note(count)),), *((),) * (len(head) - 1))

        cells = tuple(tuple(map(self._inlines, row)) for row in rows)
        return Grid(tuple(map(self._inlines, head)), self._few(cells, note))

    def _folded(self, blocks: Blocks) -> Blocks:
        left = self.blocks(blocks)
        count = len(words_of(left))
        if count <= 2 * self._cut.code:
            return left
        return (Paragraph((Text(f"[... {count} characters left out ...]"),)),)

    def _inlines(self, inlines: Inlines) -> Inlines:
        cut = tuple(map(self._inline, inlines))
        return self._few(cut, lambda n: Text(f" {_note(n)} "))

    def _inline(self, inline: Inline) -> Inline:
        match inline:
            case Text(text):
                return Text(self._words(text))
            case Code(text):
                return Code(self._words(text))
            case Strong(children):
                return Strong(self._inlines(children))
            case Emphasis(children):
                return Emphasis(self._inlines(children))
            case Strike(children):
                return Strike(self._inlines(children))
            case Small(children):
                return Small(self._inlines(children))
            case Link(url, children):
                return Link(url, self._inlines(children))
            case _:
                return inline

    def _words(self, text: str) -> str:
        if len(text) <= self._cut.words:
            return text
        return " ".join(cut_middle(text, self._cut.words).split())

    def _few(self, parts: Sequence[T], note: Callable[[int], T]) -> tuple[T, ...]:
        most = self._cut.parts
        if len(parts) <= most:
            return tuple(parts)
        head, tail = most - most // 2, most // 2
        left_out = note(len(parts) - head - tail)
        return (*parts[:head], left_out, *parts[len(parts) - tail :])


def _left_out(count: int) -> Paragraph:
    return Paragraph((Text(_note(count)),))


def _note(count: int) -> str:
    return f"[... {count} more ...]"
