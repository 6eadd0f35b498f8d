"""What a document shows, taken apart for the tests."""

from collections.abc import Iterator

from patchwright.core.text.document.types import (
    Block,
    BlockQuote,
    Blocks,
    Code,
    CodeBlock,
    Details,
    Heading,
    HorizontalRule,
    Inlines,
    ListBlock,
    Paragraph,
    Table,
    plain_text,
)


def inlines_of(blocks: Blocks) -> Iterator[Inlines]:
    """Yield every stretch of text outside code blocks, from first to last."""
    for block in blocks:
        yield from _inlines(block)


def words_of(blocks: Blocks) -> list[str]:
    return " ".join(map(plain_text, inlines_of(blocks))).split()


def code_of(blocks: Blocks) -> list[str]:
    """Return the code blocks and then the spans of code."""
    spans = [one.text for some in inlines_of(blocks) for one in _spans(some)]
    return [*_code_blocks(blocks), *spans]


def _inlines(block: Block) -> Iterator[Inlines]:
    match block:
        case Paragraph(children) | Heading(children=children):
            yield children
        case Details(title, inner):
            yield title
            yield from inlines_of(inner)
        case Table(head, rows):
            for row in (head, *rows):
                yield from row
        case CodeBlock() | HorizontalRule():
            return
        case _:
            yield from inlines_of(_inner(block))


def _inner(block: BlockQuote | ListBlock) -> Blocks:
    if isinstance(block, BlockQuote):
        return block.blocks
    return tuple(inner for item in block.items for inner in item.blocks)


def _code_blocks(blocks: Blocks) -> Iterator[str]:
    for block in blocks:
        match block:
            case CodeBlock(text):
                yield text
            case Details(blocks=inner):
                yield from _code_blocks(inner)
            case BlockQuote() | ListBlock():
                yield from _code_blocks(_inner(block))
            case _:
                continue


def _spans(inlines: Inlines) -> Iterator[Code]:
    for one in inlines:
        if isinstance(one, Code):
            yield one
        else:
            yield from _spans(getattr(one, "children", ()))
