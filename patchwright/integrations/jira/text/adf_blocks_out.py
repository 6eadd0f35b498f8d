"""Write the blocks of a document as ADF: what may be in what is Jira's rule.

https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/ and the
schema at https://go.atlassian.com/adf-json-schema
"""

from collections.abc import Iterator
from enum import Enum, auto
from itertools import count
from typing import Final, assert_never

from patchwright.core.text.document.plain import plain_text
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
from patchwright.integrations.jira.text.adf_inlines_out import AdfNode, write_inlines
from patchwright.integrations.jira.text.boxes import is_task_list, with_checkbox
from patchwright.integrations.jira.text.runs import Style


class _Container(Enum):
    PAGE = auto()
    EXPAND = auto()
    EXPAND_IN_EXPAND = auto()
    PANEL = auto()
    QUOTE = auto()
    ENTRY = auto()


_OPEN: Final = frozenset({_Container.PAGE, _Container.EXPAND})
_OPEN_OR_INNER: Final = _OPEN | {_Container.EXPAND_IN_EXPAND}
_NOT_NARROW: Final = _OPEN_OR_INNER | {_Container.PANEL}
_PANELS: Final = {
    "note": "info",
    "tip": "success",
    "important": "note",
    "warning": "warning",
    "caution": "error",
}


def write_blocks(blocks: Blocks) -> list[AdfNode]:
    return _AdfWriter().write(blocks, _Container.PAGE) or [_paragraph([])]


class _AdfWriter:
    """Numbers lists of tasks and their entries, which need ids."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def write(self, blocks: Blocks, where: _Container) -> list[AdfNode]:
        return [node for block in blocks for node in self._block(block, where)]

    def _block(self, block: Block, where: _Container) -> Iterator[AdfNode]:
        match block:
            case Paragraph(children):
                yield _paragraph(write_inlines(children))
            case Heading(level, children):
                yield _heading(level, children, where)
            case CodeBlock(text, language):
                yield _code(text, language)
            case BlockQuote(inner, alert):
                yield from self._quote(inner, alert, where)
            case ListBlock():
                yield from self._list(block, where)
            case Table(head, rows):
                yield from _table(head, rows, where)
            case HorizontalRule():
                if where in _NOT_NARROW:
                    yield {"type": "rule"}
            case Details(title, inner):
                yield from self._fold(title, inner, where)
            case _:
                assert_never(block)

    def _quote(self, inner: Blocks, alert: str, where: _Container) -> Iterator[AdfNode]:
        if where not in _OPEN_OR_INNER:
            yield from [_strong((PlainText(alert.capitalize()),))] if alert else []
            yield from self.write(inner, where)
        elif alert:
            kind: AdfNode = {"panelType": _PANELS.get(alert, "info")}
            content = self._content(inner, _Container.PANEL)
            yield {"type": "panel", "attrs": kind, "content": content}
        else:
            yield {
                "type": "blockquote",
                "content": self._content(inner, _Container.QUOTE),
            }

    def _fold(self, title: Inlines, inner: Blocks, where: _Container) -> Iterator[AdfNode]:
        if where not in _OPEN:
            yield _strong(title)
            yield from self.write(inner, where)
            return
        is_outer = where is _Container.PAGE
        inside = _Container.EXPAND if is_outer else _Container.EXPAND_IN_EXPAND
        yield {
            "type": "expand" if is_outer else "nestedExpand",
            "attrs": {"title": plain_text(title)},
            "content": self._content(inner, inside),
        }

    def _list(self, items: ListBlock, where: _Container) -> Iterator[AdfNode]:
        if where is not _Container.QUOTE and is_task_list(items):
            yield self._tasks(items)
            return
        content = [self._entry(item) for item in items.items]
        if items.start is None:
            yield {"type": "bulletList", "content": content}
        else:
            order = {"order": items.start}
            yield {"type": "orderedList", "attrs": order, "content": content}

    def _entry(self, item: ListItem) -> AdfNode:
        content = self._content(with_checkbox(item), _Container.ENTRY)
        if content[0]["type"] in {"bulletList", "orderedList", "taskList"}:
            content = [_paragraph([]), *content]
        return {"type": "listItem", "content": content}

    def _tasks(self, items: ListBlock) -> AdfNode:
        content: list[AdfNode] = []
        attributes = {"localId": self._local_id()}
        for item in items.items:
            content += self._task(item)
        return {"type": "taskList", "attrs": attributes, "content": content}

    def _task(self, item: ListItem) -> Iterator[AdfNode]:
        state = "DONE" if item.checked else "TODO"
        words = [block for block in item.blocks if isinstance(block, Paragraph)]
        yield {
            "type": "taskItem",
            "attrs": {"localId": self._local_id(), "state": state},
            "content": write_inlines(words[0].children if words else ()),
        }
        yield from (self._tasks(b) for b in item.blocks if isinstance(b, ListBlock))

    def _content(self, blocks: Blocks, where: _Container) -> list[AdfNode]:
        """Return what is in a container, which must not be empty."""
        return self.write(blocks, where) or [_paragraph([])]

    def _local_id(self) -> str:
        return f"patchwright-{next(self._numbers)}"


def _paragraph(content: list[AdfNode]) -> AdfNode:
    return {"type": "paragraph", "content": content}


def _strong(inlines: Inlines) -> AdfNode:
    return _paragraph(write_inlines(inlines, Style.STRONG))


def _heading(level: int, inlines: Inlines, where: _Container) -> AdfNode:
    if where not in _NOT_NARROW:
        return _strong(inlines)
    attributes = {"level": min(max(level, 1), 6)}
    content = write_inlines(inlines)
    return {"type": "heading", "attrs": attributes, "content": content}


def _code(text: str, language: str) -> AdfNode:
    node: AdfNode = {"type": "codeBlock"}
    if language:
        node["attrs"] = {"language": language}
    if text:
        node["content"] = [{"type": "text", "text": text}]
    return node


def _table(
    head: tuple[Inlines, ...], rows: tuple[tuple[Inlines, ...], ...], where: _Container
) -> Iterator[AdfNode]:
    if where in _OPEN:
        table = [_row("tableHeader", head), *(_row("tableCell", row) for row in rows)]
        yield {"type": "table", "content": table}
        return
    for row in (head, *rows):
        if any(row):
            yield _paragraph(write_inlines(_with_bars(row)))


def _row(kind: str, cells: tuple[Inlines, ...]) -> AdfNode:
    content = [
        {"type": kind, "content": [_paragraph(write_inlines(cell))]} for cell in cells
    ]
    return {"type": "tableRow", "content": content}


def _with_bars(cells: tuple[Inlines, ...]) -> Inlines:
    first, *others = cells
    return (*first, *(inline for cell in others for inline in (PlainText(" | "), *cell)))
