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
    Details,
    Table,
    Heading,
    Inlines,
    ListItem,
    ListBlock,
    Paragraph,
    BlockQuote,
    HorizontalRule,
    PlainText,
)
from patchwright.integrations.jira.text.boxes import with_checkbox
from patchwright.integrations.jira.text.fitting import truncate_document, length_in_jira
from patchwright.integrations.jira.text.runs import Style
from patchwright.integrations.jira.text.wiki_escape import code_block, panel_title
from patchwright.integrations.jira.text.wiki_inlines_out import (
    lines_of_cells,
    write_line,
    write_lines,
)

_EMPTY: Final = "&nbsp;"


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What is open around a block: a box of one kind holds no other of that kind."""

    marks: str = ""
    in_quote: bool = False
    in_panel: bool = False


def to_wiki(markdown: str) -> str:
    """Return a text that fits into a comment."""
    return _write(truncate_document(read_document(markdown), _size), _Surroundings())


def _size(blocks: Blocks) -> int:
    return length_in_jira(_write(blocks, _Surroundings()))


def _write(blocks: Blocks, place: _Surroundings) -> str:
    written = (_block(block, place) for block in blocks)
    return "\n\n".join(text for text in written if text)


def _block(block: Block, place: _Surroundings) -> str:
    match block:
        case Paragraph(children):
            return "\n".join(write_lines(children))
        case Heading(level, children):
            line = write_line(children)
            return f"h{min(max(level, 1), 6)}. {line}" if line else ""
        case CodeBlock(text, language):
            return code_block(text, language)
        case BlockQuote(inner, alert) if alert:
            return _panel((PlainText(alert.capitalize()),), inner, place)
        case BlockQuote(inner):
            return _quote(inner, place)
        case ListBlock(items, start):
            mark = "*" if start is None else "#"
            inside = replace(place, marks=place.marks + mark)
            return "\n".join(_entry(item, inside) for item in items)
        case Table(head, rows):
            return "\n".join([_row(head, "||"), *(_row(row, "|") for row in rows)])
        case HorizontalRule():
            return "----"
        case Details(title, inner):
            return _panel(title, inner, place)
        case _:
            assert_never(block)


def _quote(blocks: Blocks, place: _Surroundings) -> str:
    body = _write(blocks, replace(place, in_quote=True))
    return body if place.in_quote or not body else f"{{quote}}\n{body}\n{{quote}}"


def _panel(title: Inlines, blocks: Blocks, place: _Surroundings) -> str:
    """Return a box with a title: nothing in wiki markup can be opened and closed."""
    body = _write(blocks, replace(place, in_panel=True))
    if place.in_panel:
        return "\n\n".join(filter(None, [write_line(title, Style.STRONG), body]))
    return f"{{panel:title={panel_title(plain_text(title))}}}\n{body}\n{{panel}}"


def _entry(item: ListItem, place: _Surroundings) -> str:
    """Write an entry of a list, which an empty line would end."""
    text = ""
    for block in with_checkbox(item):
        if isinstance(block, Paragraph | Heading):
            line = write_line(block.children)
            text += f"{_between(text)}{line}" if text and line else line
        else:
            text += f"\n{_block(block, place)}"
    if text.startswith("\n") and item.blocks and isinstance(item.blocks[0], ListBlock):
        return text.removeprefix("\n")
    return f"{place.marks} {text.strip(chr(10)) or _EMPTY}"


def _between(text: str) -> str:
    """Return what parts a paragraph from what stands before it in an entry."""
    return "\n" if text.endswith("}") else " \\\\ "


def _row(cells: tuple[Inlines, ...], border: str) -> str:
    return f"{border}{border.join(lines_of_cells(cells))}{border}" if cells else ""
