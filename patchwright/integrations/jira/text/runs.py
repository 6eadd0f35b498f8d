"""Lay out the inlines of a document one after the other, each with its styles."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from patchwright.core.text.document.types import (
    Mention,
    Code,
    Emphasis,
    Inlines,
    LineBreak,
    Hyperlink,
    InlineImage,
    Subscript,
    Strike,
    Strong,
    PlainText,
)
from patchwright.integrations.jira.text.addresses import safe_address


class Style(StrEnum):
    STRONG = "strong"
    EMPHASIS = "emphasis"
    STRIKE = "strike"
    SMALL = "small"


Leaf = PlainText | Code | Mention | LineBreak


@dataclass(frozen=True, slots=True)
class StyledRun:
    leaf: Leaf
    styles: tuple[Style, ...] = ()
    address: str = ""


@dataclass(frozen=True, slots=True)
class _RunStyle:
    styles: tuple[Style, ...] = ()
    address: str = ""

    def with_style(self, style: Style) -> "_Around":
        known = style in self.styles
        return self if known else replace(self, styles=(*self.styles, style))


def styled_runs(inlines: Inlines, *styles: Style) -> Iterator[StyledRun]:
    """Yield what is to be shown; a link that leads nowhere safe is words."""
    return _runs(inlines, _RunStyle(styles))


def _runs(inlines: Inlines, around: _RunStyle) -> Iterator[StyledRun]:
    for inline in inlines:
        match inline:
            case PlainText("") | Code(""):
                pass
            case PlainText() | Code() | Mention() | LineBreak():
                yield StyledRun(inline, around.styles, around.address)
            case Strong(children):
                yield from _runs(children, around.with_style(Style.STRONG))
            case Emphasis(children):
                yield from _runs(children, around.with_style(Style.EMPHASIS))
            case Strike(children):
                yield from _runs(children, around.with_style(Style.STRIKE))
            case Subscript(children):
                yield from _runs(children, around.with_style(Style.SMALL))
            case Hyperlink(url, children):
                yield from _link(url, children, around)
            case InlineImage(url, alt):
                yield from _link(url, (PlainText(alt or url),), around)
            case _:
                assert_never(inline)


def _link(url: str, children: Inlines, around: _RunStyle) -> Iterator[StyledRun]:
    address = safe_address(url) or around.address
    yield from _runs(children, replace(around, address=address))
    if not address and url and children != (PlainText(url),):
        yield StyledRun(PlainText(f" ({url})"), around.styles)
