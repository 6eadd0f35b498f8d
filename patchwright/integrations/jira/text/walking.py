"""Find in a document what words it has."""

from collections.abc import Iterator
from typing import assert_never

from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.types import (
    Block,
    Blocks,
    CodeBlock,
    Details,
    Table,
    Heading,
    Inlines,
    ListBlock,
    Paragraph,
    BlockQuote,
    HorizontalRule,
)


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
