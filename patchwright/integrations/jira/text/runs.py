"""Lay out the inlines of a document one after the other, each with its styles."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from patchwright.core.text.document.types import (
    Call,
    Code,
    Emphasis,
    Inlines,
    LineBreak,
    Link,
    Picture,
    Small,
    Strike,
    Strong,
    Text,
)
from patchwright.integrations.jira.text.addresses import safe_address


class Style(StrEnum):
    STRONG = "strong"
    EMPHASIS = "emphasis"
    STRIKE = "strike"
    SMALL = "small"


Leaf = Text | Code | Call | LineBreak


@dataclass(frozen=True, slots=True)
class Run:
    leaf: Leaf
    styles: tuple[Style, ...] = ()
    address: str = ""


@dataclass(frozen=True, slots=True)
class _Around:
    styles: tuple[Style, ...] = ()
    address: str = ""

    def with_style(self, style: Style) -> "_Around":
        known = style in self.styles
        return self if known else replace(self, styles=(*self.styles, style))


def runs_of(inlines: Inlines, *styles: Style) -> Iterator[Run]:
    """Yield what is to be shown; a link that leads nowhere safe is words."""
    return _runs(inlines, _Around(styles))


def _runs(inlines: Inlines, around: _Around) -> Iterator[Run]:
    for inline in inlines:
        match inline:
            case Text("") | Code(""):
                pass
            case Text() | Code() | Call() | LineBreak():
                yield Run(inline, around.styles, around.address)
            case Strong(children):
                yield from _runs(children, around.with_style(Style.STRONG))
            case Emphasis(children):
                yield from _runs(children, around.with_style(Style.EMPHASIS))
            case Strike(children):
                yield from _runs(children, around.with_style(Style.STRIKE))
            case Small(children):
                yield from _runs(children, around.with_style(Style.SMALL))
            case Link(url, children):
                yield from _link(url, children, around)
            case Picture(url, alt):
                yield from _link(url, (Text(alt or url),), around)
            case _:
                assert_never(inline)


def _link(url: str, children: Inlines, around: _Around) -> Iterator[Run]:
    address = safe_address(url) or around.address
    yield from _runs(children, replace(around, address=address))
    if not address and url and children != (Text(url),):
        yield Run(Text(f" ({url})"), around.styles)
