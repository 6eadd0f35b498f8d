"""Write Markdown as an ADF document, which Jira Cloud wants."""

import json
from collections.abc import Iterator
from enum import Enum, auto
from itertools import count
from typing import Final, assert_never

from patchwright.core.text.document import types as doc
from patchwright.core.text.document.reader import read_document
from patchwright.integrations.jira.text.layout import (
    Style,
    StyledRun,
    is_task_list,
    length_in_jira,
    styled_runs,
    truncate_document,
    with_checkbox,
)

AdfNode = dict[str, object]

_STYLES: Final[dict[Style, AdfNode]] = {
    Style.STRONG: {"type": "strong"},
    Style.EMPHASIS: {"type": "em"},
    Style.STRIKE: {"type": "strike"},
    Style.SMALL: {"type": "subsup", "attrs": {"type": "sub"}},
}


def write_inlines(inlines: doc.Inlines, *styles: Style) -> list[AdfNode]:
    return [node for run in styled_runs(inlines, *styles) for node in _nodes(run)]


def _nodes(run: StyledRun) -> Iterator[AdfNode]:
    match run.leaf:
        case doc.PlainText(text):
            yield _text(text, [*_link(run), *(_STYLES[style] for style in run.styles)])
        case doc.Code(text):
            # Code has no style beside it.
            # https://developer.atlassian.com/cloud/jira/platform/apis/document/marks/code/
            yield _text(text, [*_link(run), {"type": "code"}])
        case doc.Mention(person_id, name):
            yield {"type": "mention", "attrs": {"id": person_id, "text": f"@{name}"}}
        case doc.LineBreak():
            yield {"type": "hardBreak"}
        case _:
            assert_never(run.leaf)


def _text(text: str, marks: list[AdfNode]) -> AdfNode:
    node: AdfNode = {"type": "text", "text": text}
    return node | {"marks": marks} if marks else node


def _link(run: StyledRun) -> list[AdfNode]:
    if not run.address:
        return []
    return [{"type": "link", "attrs": {"href": run.address}}]


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


def write_blocks(blocks: doc.Blocks) -> list[AdfNode]:
    return _AdfWriter().write(blocks, _Container.PAGE) or [_paragraph([])]


class _AdfWriter:
    """Numbers lists of tasks and their entries, which need ids."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def write(self, blocks: doc.Blocks, where: _Container) -> list[AdfNode]:
        return [node for block in blocks for node in self._block(block, where)]

    def _block(self, block: doc.Block, where: _Container) -> Iterator[AdfNode]:
        match block:
            case doc.Paragraph(children):
                yield _paragraph(write_inlines(children))
            case doc.Heading(level, children):
                yield _heading(level, children, where)
            case doc.CodeBlock(text, language):
                yield _code(text, language)
            case doc.BlockQuote(inner, alert):
                yield from self._quote(inner, alert, where)
            case doc.ListBlock():
                yield from self._list(block, where)
            case doc.Table(head, rows):
                yield from _table(head, rows, where)
            case doc.HorizontalRule():
                if where in _NOT_NARROW:
                    yield {"type": "rule"}
            case doc.Details(title, inner):
                yield from self._fold(title, inner, where)
            case _:
                assert_never(block)

    def _quote(
        self, inner: doc.Blocks, alert: str, where: _Container
    ) -> Iterator[AdfNode]:
        if where not in _OPEN_OR_INNER:
            yield from [_strong((doc.PlainText(alert.capitalize()),))] if alert else []
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

    def _fold(
        self, title: doc.Inlines, inner: doc.Blocks, where: _Container
    ) -> Iterator[AdfNode]:
        if where not in _OPEN:
            yield _strong(title)
            yield from self.write(inner, where)
            return
        is_outer = where is _Container.PAGE
        inside = _Container.EXPAND if is_outer else _Container.EXPAND_IN_EXPAND
        yield {
            "type": "expand" if is_outer else "nestedExpand",
            "attrs": {"title": doc.plain_text(title)},
            "content": self._content(inner, inside),
        }

    def _list(self, items: doc.ListBlock, where: _Container) -> Iterator[AdfNode]:
        if where is not _Container.QUOTE and is_task_list(items):
            yield self._tasks(items)
            return
        content = [self._entry(item) for item in items.items]
        if items.start is None:
            yield {"type": "bulletList", "content": content}
        else:
            order = {"order": items.start}
            yield {"type": "orderedList", "attrs": order, "content": content}

    def _entry(self, item: doc.ListItem) -> AdfNode:
        content = self._content(with_checkbox(item), _Container.ENTRY)
        if content[0]["type"] in {"bulletList", "orderedList", "taskList"}:
            content = [_paragraph([]), *content]
        return {"type": "listItem", "content": content}

    def _tasks(self, items: doc.ListBlock) -> AdfNode:
        content: list[AdfNode] = []
        attributes = {"localId": self._local_id()}
        for item in items.items:
            content += self._task(item)
        return {"type": "taskList", "attrs": attributes, "content": content}

    def _task(self, item: doc.ListItem) -> Iterator[AdfNode]:
        state = "DONE" if item.checked else "TODO"
        words = [block for block in item.blocks if isinstance(block, doc.Paragraph)]
        yield {
            "type": "taskItem",
            "attrs": {"localId": self._local_id(), "state": state},
            "content": write_inlines(words[0].children if words else ()),
        }
        yield from (self._tasks(b) for b in item.blocks if isinstance(b, doc.ListBlock))

    def _content(self, blocks: doc.Blocks, where: _Container) -> list[AdfNode]:
        """Return what is in a container, which must not be empty."""
        return self.write(blocks, where) or [_paragraph([])]

    def _local_id(self) -> str:
        return f"patchwright-{next(self._numbers)}"


def _paragraph(content: list[AdfNode]) -> AdfNode:
    return {"type": "paragraph", "content": content}


def _strong(inlines: doc.Inlines) -> AdfNode:
    return _paragraph(write_inlines(inlines, Style.STRONG))


def _heading(level: int, inlines: doc.Inlines, where: _Container) -> AdfNode:
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
    head: tuple[doc.Inlines, ...],
    rows: tuple[tuple[doc.Inlines, ...], ...],
    where: _Container,
) -> Iterator[AdfNode]:
    if where in _OPEN:
        table = [_row("tableHeader", head), *(_row("tableCell", row) for row in rows)]
        yield {"type": "table", "content": table}
        return
    for row in (head, *rows):
        if any(row):
            yield _paragraph(write_inlines(_with_bars(row)))


def _row(kind: str, cells: tuple[doc.Inlines, ...]) -> AdfNode:
    content = [
        {"type": kind, "content": [_paragraph(write_inlines(cell))]} for cell in cells
    ]
    return {"type": "tableRow", "content": content}


def _with_bars(cells: tuple[doc.Inlines, ...]) -> doc.Inlines:
    first, *others = cells
    return (
        *first,
        *(inline for cell in others for inline in (doc.PlainText(" | "), *cell)),
    )


def to_adf(markdown: str) -> AdfNode:
    """Return a document that fits into a comment."""
    return _document(truncate_document(read_document(markdown), _size))


def _document(blocks: doc.Blocks) -> AdfNode:
    return {"type": "doc", "version": 1, "content": write_blocks(blocks)}


def _size(blocks: doc.Blocks) -> int:
    # What of a document is counted isn't said; this much it is never more than.
    text = json.dumps(_document(blocks), ensure_ascii=False, separators=(",", ":"))
    return length_in_jira(text)
