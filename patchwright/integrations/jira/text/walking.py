"""Find in a document whom it calls, and what words it has."""

from collections.abc import Iterator
from typing import assert_never

from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.types import (
    Block,
    Blocks,
    Call,
    Code,
    CodeBlock,
    Emphasis,
    Fold,
    Grid,
    Heading,
    Inlines,
    Items,
    LineBreak,
    Link,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Small,
    Strike,
    Strong,
    Text,
)


def calls_in(blocks: Blocks) -> Iterator[Call]:
    """Yield who is called; a quote calls nobody."""
    for block in blocks:
        if not isinstance(block, Quote):
            for inlines in _own_inlines(block):
                yield from _calls(inlines)
            yield from calls_in(_inner_blocks(block))


def words_of(blocks: Blocks) -> str:
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
        case Paragraph(children) | Heading(_, children) | Fold(children, _):
            return (children,)
        case Grid(head, rows):
            return (*head, *(cell for row in rows for cell in row))
        case CodeBlock() | Quote() | Items() | Rule():
            return ()
        case _:
            assert_never(block)


def _inner_blocks(block: Block) -> Blocks:
    match block:
        case Quote(blocks) | Fold(_, blocks):
            return blocks
        case Items(items):
            return tuple(inner for item in items for inner in item.blocks)
        case Paragraph() | Heading() | CodeBlock() | Grid() | Rule():
            return ()
        case _:
            assert_never(block)


def _calls(inlines: Inlines) -> Iterator[Call]:
    for inline in inlines:
        match inline:
            case Call():
                yield inline
            case (
                Strong(children)
                | Emphasis(children)
                | Strike(children)
                | Small(children)
                | Link(_, children)
            ):
                yield from _calls(children)
            case Text() | Code() | Picture() | LineBreak():
                pass
            case _:
                assert_never(inline)
