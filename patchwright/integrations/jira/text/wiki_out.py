"""Write Markdown as wiki markup, which data centers want.

https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all
"""

from dataclasses import dataclass, replace
from typing import Final, assert_never

from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.read import read_document
from patchwright.core.text.document.types import (
    Block,
    Blocks,
    CodeBlock,
    Fold,
    Grid,
    Heading,
    Inlines,
    Item,
    Items,
    Paragraph,
    Quote,
    Rule,
    Text,
)
from patchwright.integrations.jira.text.boxes import with_box
from patchwright.integrations.jira.text.fitting import fit, length_in_jira
from patchwright.integrations.jira.text.runs import Style
from patchwright.integrations.jira.text.wiki_escape import code_block, title_of
from patchwright.integrations.jira.text.wiki_inlines_out import (
    lines_of_cells,
    write_line,
    write_lines,
)

_EMPTY: Final = "&nbsp;"


@dataclass(frozen=True, slots=True)
class _Place:
    """What is open around a block: a box of one kind holds no other of that kind."""

    marks: str = ""
    in_quote: bool = False
    in_panel: bool = False


def to_wiki(markdown: str) -> str:
    """Return a text that fits into a comment."""
    return _write(fit(read_document(markdown), _size), _Place())


def _size(blocks: Blocks) -> int:
    return length_in_jira(_write(blocks, _Place()))


def _write(blocks: Blocks, place: _Place) -> str:
    written = (_block(block, place) for block in blocks)
    return "\n\n".join(text for text in written if text)


def _block(block: Block, place: _Place) -> str:
    match block:
        case Paragraph(children):
            return "\n".join(write_lines(children))
        case Heading(level, children):
            line = write_line(children)
            return f"h{min(max(level, 1), 6)}. {line}" if line else ""
        case CodeBlock(text, language):
            return code_block(text, language)
        case Quote(inner, alert) if alert:
            return _panel((Text(alert.capitalize()),), inner, place)
        case Quote(inner):
            return _quote(inner, place)
        case Items(items, start):
            mark = "*" if start is None else "#"
            inside = replace(place, marks=place.marks + mark)
            return "\n".join(_entry(item, inside) for item in items)
        case Grid(head, rows):
            return "\n".join([_row(head, "||"), *(_row(row, "|") for row in rows)])
        case Rule():
            return "----"
        case Fold(title, inner):
            return _panel(title, inner, place)
        case _:
            assert_never(block)


def _quote(blocks: Blocks, place: _Place) -> str:
    body = _write(blocks, replace(place, in_quote=True))
    return body if place.in_quote or not body else f"{{quote}}\n{body}\n{{quote}}"


def _panel(title: Inlines, blocks: Blocks, place: _Place) -> str:
    """Return a box with a title: nothing in wiki markup can be opened and closed."""
    body = _write(blocks, replace(place, in_panel=True))
    if place.in_panel:
        return "\n\n".join(filter(None, [write_line(title, Style.STRONG), body]))
    return f"{{panel:title={title_of(plain_text(title))}}}\n{body}\n{{panel}}"


def _entry(item: Item, place: _Place) -> str:
    """Write an entry of a list, which an empty line would end."""
    text = ""
    for block in with_box(item):
        if isinstance(block, Paragraph | Heading):
            line = write_line(block.children)
            text += f"{_between(text)}{line}" if text and line else line
        else:
            text += f"\n{_block(block, place)}"
    if text.startswith("\n") and item.blocks and isinstance(item.blocks[0], Items):
        return text.removeprefix("\n")
    return f"{place.marks} {text.strip(chr(10)) or _EMPTY}"


def _between(text: str) -> str:
    """Return what parts a paragraph from what stands before it in an entry."""
    return "\n" if text.endswith("}") else " \\\\ "


def _row(cells: tuple[Inlines, ...], border: str) -> str:
    return f"{border}{border.join(lines_of_cells(cells))}{border}" if cells else ""
