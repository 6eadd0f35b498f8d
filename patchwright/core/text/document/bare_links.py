"""Make links of addresses that stand in a text as they are.

https://github.github.com/gfm/#autolinks-extension-
"""

import re
from collections.abc import Iterator
from typing import Final

from patchwright.core.text.document.types import Inline, Inlines, Hyperlink, PlainText

_ADDRESS: Final = re.compile(r"(?<![a-z])https?://[^\s<>\"`]+", re.IGNORECASE)
_CLINGING: Final = "?!.,:*_~'\";"


def link_addresses(inlines: Inlines) -> Inlines:
    return tuple(part for inline in inlines for part in _linked(inline))


def _linked(inline: Inline) -> Iterator[Inline]:
    if not isinstance(inline, PlainText):
        yield inline
        return
    text, done = inline.text, 0
    for found in _ADDRESS.finditer(text):
        address = _trimmed(found[0])
        if done < found.start():
            yield PlainText(text[done : found.start()])
        yield Hyperlink(address, (PlainText(address),))
        done = found.start() + len(address)
    if done < len(text):
        yield PlainText(text[done:])


def _trimmed(address: str) -> str:
    """Leave off what belongs to the sentence around an address."""
    unopened = address.count(")") - address.count("(")
    end = len(address)
    while address[end - 1] in _CLINGING or (address[end - 1] == ")" and unopened > 0):
        unopened -= address[end - 1] == ")"
        end -= 1
    return address[:end]
