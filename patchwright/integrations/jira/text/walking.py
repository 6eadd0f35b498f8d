"""Find in a document what words it has."""

from collections.abc import Iterator
from typing import assert_never

from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.types import (
    Block,
    Blocks,
    CodeBlock,
    Fold,
    Grid,
    Heading,
    Inlines,
    Items,
    Paragraph,
    Quote,
    Rule,
)


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
