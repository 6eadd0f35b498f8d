"""Read the little HTML that our messages have."""

import html
import re
from collections.abc import Callable, Iterator
from typing import Final

from patchwright.core.text.document.inline_stack import InlineStack
from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.types import (
    Code,
    Emphasis,
    Inline,
    Inlines,
    LineBreak,
    Subscript,
    Strike,
    Strong,
    PlainText,
)

_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)([^<>]*)>")
_COMMENT_START, _COMMENT_END = "<!--", "-->"


def _code(children: Inlines) -> Inline:
    return Code(plain_text(children))


_MEANINGS: Final[dict[str, Callable[[Inlines], Inline]]] = {
    "b": Strong,
    "strong": Strong,
    "i": Emphasis,
    "em": Emphasis,
    "s": Strike,
    "del": Strike,
    "sub": Subscript,
    "small": Subscript,
    "code": _code,
    "kbd": _code,
    "tt": _code,
}


def without_comments(text: str) -> str:
    """Take HTML comments out; one that is never closed is text."""
    parts: list[str] = []
    done = 0
    while (start := text.find(_COMMENT_START, done)) >= 0:
        end = text.find(_COMMENT_END, start + len(_COMMENT_START))
        if end < 0:
            break
        parts.append(text[done:start])
        done = end + len(_COMMENT_END)
    return "".join([*parts, text[done:]])


def add_tag(stack: InlineStack, raw: str) -> None:
    """Add what a tag means; a tag of another meaning is the text it is."""
    if raw.startswith(_COMMENT_START):
        return
    tag = _TAG.fullmatch(raw)
    name = tag[2].lower() if tag else ""
    make = _MEANINGS.get(name)
    if name == "br":
        stack.add(LineBreak())
    elif tag is None or make is None or tag[3].endswith("/"):
        stack.add(PlainText(raw))
    elif tag[1]:
        stack.close_tag(name, raw)
    else:
        stack.open_tag(name, _wrapped(make), raw)


def read_html_inlines(text: str) -> Inlines:
    """Read HTML in which lines are kept as they were written."""
    stack = InlineStack()
    for piece, is_tag in _pieces(without_comments(text).strip()):
        if is_tag:
            add_tag(stack, piece)
        else:
            _add_lines(stack, piece)
    return stack.result()


def _wrapped(make: Callable[[Inlines], Inline]) -> Callable[[Inlines], Inlines]:
    return lambda children: (make(children),) if children else ()


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    done = 0
    for tag in _TAG.finditer(text):
        yield text[done : tag.start()], False
        yield tag[0], True
        done = tag.end()
    yield text[done:], False


def _add_lines(stack: InlineStack, text: str) -> None:
    first, *others = text.split("\n")
    stack.add(PlainText(html.unescape(first)))
    for line in others:
        stack.add(LineBreak())
        stack.add(PlainText(html.unescape(line.lstrip())))
