"""Lay out the inlines and lists of a document in a form that Jira can show."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, assert_never

from patchwright.core.text.document import types as doc

_FOLLOWED: Final = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
# Each of these ends a link, or begins something else, in Markdown or in wiki markup.
_ENDS_A_LINK: Final = re.compile(r"[\x00-\x20\x7f<>\"\\^`{|}\[\]()]")
_LONGEST: Final = 2000


def safe_address(url: str) -> str:
    """Return an address that people may be sent to, or an empty string."""
    url = url.strip()
    if len(url) > _LONGEST or not _FOLLOWED.match(url):
        return ""
    return _ENDS_A_LINK.sub(lambda sign: f"%{ord(sign[0]):02X}", url)


class Style(StrEnum):
    STRONG = "strong"
    EMPHASIS = "emphasis"
    STRIKE = "strike"
    SMALL = "small"


Leaf = doc.PlainText | doc.Code | doc.Mention | doc.LineBreak


@dataclass(frozen=True, slots=True)
class StyledRun:
    leaf: Leaf
    styles: tuple[Style, ...] = ()
    address: str = ""


@dataclass(frozen=True, slots=True)
class _RunStyle:
    styles: tuple[Style, ...] = ()
    address: str = ""

    def with_style(self, style: Style) -> "_RunStyle":
        known = style in self.styles
        return self if known else replace(self, styles=(*self.styles, style))


def styled_runs(inlines: doc.Inlines, *styles: Style) -> Iterator[StyledRun]:
    """Yield what is to be shown; a link that leads nowhere safe is words."""
    return _runs(inlines, _RunStyle(styles))


def _runs(inlines: doc.Inlines, around: _RunStyle) -> Iterator[StyledRun]:
    for inline in inlines:
        match inline:
            case doc.PlainText("") | doc.Code(""):
                pass
            case doc.PlainText() | doc.Code() | doc.Mention() | doc.LineBreak():
                yield StyledRun(inline, around.styles, around.address)
            case doc.Strong(children):
                yield from _runs(children, around.with_style(Style.STRONG))
            case doc.Emphasis(children):
                yield from _runs(children, around.with_style(Style.EMPHASIS))
            case doc.Strike(children):
                yield from _runs(children, around.with_style(Style.STRIKE))
            case doc.Subscript(children):
                yield from _runs(children, around.with_style(Style.SMALL))
            case doc.Hyperlink(url, children):
                yield from _link(url, children, around)
            case doc.InlineImage(url, alt):
                yield from _link(url, (doc.PlainText(alt or url),), around)
            case _:
                assert_never(inline)


def _link(url: str, children: doc.Inlines, around: _RunStyle) -> Iterator[StyledRun]:
    address = safe_address(url) or around.address
    yield from _runs(children, replace(around, address=address))
    if not address and url and children != (doc.PlainText(url),):
        yield StyledRun(doc.PlainText(f" ({url})"), around.styles)


_BOXES: Final = {True: "☑ ", False: "☐ "}


def is_task_list(items: doc.ListBlock) -> bool:
    """Tell whether each entry has a box, a line of words, and no more than tasks."""
    return items.start is None and all(map(_is_task, items.items))


def with_checkbox(item: doc.ListItem) -> doc.Blocks:
    """Return what is in an entry, its box as a sign in front of it."""
    if item.checked is None:
        return item.blocks
    box = doc.PlainText(_BOXES[item.checked])
    match item.blocks:
        case (doc.Paragraph(children), *others):
            return (doc.Paragraph((box, *children)), *others)
        case others:
            return (doc.Paragraph((box,)), *others)


def _is_task(item: doc.ListItem) -> bool:
    if item.checked is None:
        return False
    match item.blocks:
        case () | (doc.Paragraph(),):
            return True
        case (doc.Paragraph(), doc.ListBlock() as inner):
            return is_task_list(inner)
        case _:
            return False
