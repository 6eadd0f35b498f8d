"""Put blocks into the `<details>` around them."""

import re
from collections.abc import Iterator
from typing import Final

from patchwright.core.text.document.html import read_html_inlines, without_comments
from patchwright.core.text.document.types import (
    Block,
    Blocks,
    Details,
    Inlines,
    Paragraph,
    Strong,
    PlainText,
)

# What browsers show where there is no summary.
_UNNAMED: Final = (PlainText("Details"),)
_DEEPEST: Final = 12
_FOLDING: Final = re.compile(
    r"(?P<opens><details\b[^<>]*>)|(?P<closes></details\s*>)"
    r"|<summary\b[^<>]*>(?P<title>(?:[^<]|<(?!/?(?:summary|details)\b))*+)</summary\s*>",
    re.IGNORECASE,
)


class _OpenDetails:
    def __init__(self) -> None:
        self.title: Inlines = ()
        self.blocks: list[Block] = []


class BlockBuilder:
    """The blocks of one container; what is open at its end ends with it.

    `depth` is that of the container itself.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._blocks: list[Block] = []
        self._folds: list[_OpenDetails] = []
        self._too_deep = 0

    @property
    def depth(self) -> int:
        return self._depth + len(self._folds)

    def add(self, block: Block) -> None:
        inside = self._folds[-1].blocks if self._folds else self._blocks
        inside.append(block)

    def add_html(self, text: str) -> None:
        done = 0
        text = without_comments(text)
        for found in _FOLDING.finditer(text):
            self._add_text(text[done : found.start()])
            self._add_folding(found)
            done = found.end()
        self._add_text(text[done:])

    def result(self) -> Blocks:
        while self._folds:
            self._close()
        return tuple(self._blocks)

    def _add_text(self, text: str) -> None:
        for part in _paragraphs(text):
            self.add(Paragraph(part))

    def _add_folding(self, found: re.Match[str]) -> None:
        if found["opens"]:
            self._open()
        elif found["closes"]:
            self._close()
        else:
            self._entitle(read_html_inlines(found["title"]))

    def _open(self) -> None:
        if self.depth >= _DEEPEST:
            self._too_deep += 1
        else:
            self._folds.append(_OpenDetails())

    def _close(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
        elif self._folds:
            fold = self._folds.pop()
            self.add(Details(fold.title or _UNNAMED, tuple(fold.blocks)))

    def _entitle(self, title: Inlines) -> None:
        fold = self._folds[-1] if self._folds else None
        if fold and not (self._too_deep or fold.title or fold.blocks):
            fold.title = title
        elif title:
            self.add(Paragraph((Strong(title),)))


def _paragraphs(text: str) -> Iterator[Inlines]:
    for part in re.split(r"\n[ \t]*\n", text):
        if inlines := read_html_inlines(part):
            yield inlines
