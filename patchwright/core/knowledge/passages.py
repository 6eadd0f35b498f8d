"""Cut a page into passages small enough to be quoted, each under its heading."""

import re
from collections.abc import Iterator

from patchwright.core.knowledge.pages import KnowledgePage
from patchwright.core.types.base import Value

MAX_PASSAGE_CHARS = 3_000
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Passage(Value):
    """A part of a page; `number` counts the parts that share a heading, from 1."""

    path: str
    heading: str
    text: str
    number: int = 1

    @property
    def title(self) -> str:
        part = f" ({self.number})" if self.number > 1 else ""
        return f"{self.path} {self.heading}{part}".strip()


def split_page(page: KnowledgePage) -> Iterator[Passage]:
    """Return the passages in order; together they hold the whole text."""
    for heading, text in _sections(page.text):
        for number, part in enumerate(_parts(text), start=1):
            yield Passage(path=page.path, heading=heading, text=part, number=number)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    heading, lines, fence = "", list[str](), ""
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
        found = None if fence else _HEADING.fullmatch(line)
        if found and lines:
            yield heading, "\n".join(lines)
            lines = []
        heading = found[1].rstrip().rstrip("#").rstrip() if found else heading
        lines.append(line)
    yield heading, "\n".join(lines)


def _fence_after(line: str, fence: str) -> str:
    """Return the marks of the code block that is open after this line."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    return "" if found[1].startswith(fence) else fence


def _parts(text: str) -> Iterator[str]:
    """Cut where a line ends, if there is such a place."""
    while len(text) > MAX_PASSAGE_CHARS:
        at = text.rfind("\n", 0, MAX_PASSAGE_CHARS) + 1 or MAX_PASSAGE_CHARS
        yield text[:at].strip("\n")
        text = text[at:]
    if text.strip():
        yield text.strip("\n")
