"""Put lines into texts that are short enough for a block of Slack."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from patchwright.integrations.slack.text.escaping import escape_code
from patchwright.integrations.slack.text.flow import LineKind, TextLine
from patchwright.integrations.slack.text.marking import write_line
from patchwright.integrations.slack.text.runs import words_of
from patchwright.integrations.slack.text.wrapping import wrap

# https://docs.slack.dev/reference/block-kit/composition-objects/text-object
MAX_CHARS: Final = 3_000
_FENCE: Final = "```"
# The end of a code block, and what a quote and an entry of a list begin with.
_RESERVE: Final = 8
_LONGEST_LINE: Final = MAX_CHARS - 200
_LONGEST_INDENT: Final = 40


class SectionShape(Enum):
    SECTION = auto()
    CONTEXT = auto()
    DIVIDER = auto()


@dataclass(frozen=True, slots=True)
class MessageSection:
    shape: SectionShape
    text: str = ""


_SHAPES: Final = {
    LineKind.PROSE: SectionShape.SECTION,
    LineKind.CODE: SectionShape.SECTION,
    LineKind.SMALL: SectionShape.CONTEXT,
    LineKind.RULE: SectionShape.DIVIDER,
}


def sections(lines: Iterator[TextLine]) -> Iterator[MessageSection]:
    """Yield sections; each ends the code blocks that it begins."""
    page = _Page(SectionShape.SECTION)
    for line in lines:
        shape = _SHAPES[line.kind]
        is_blank = line.kind is LineKind.PROSE and not (line.runs or line.indent)
        if shape is not page.shape and not is_blank:
            yield from page.finished()
            page = _Page(shape)
        if shape is SectionShape.DIVIDER:
            yield MessageSection(shape)
        for written in _written(line):
            is_code = line.kind is LineKind.CODE
            if not page.has_room(written, is_code=is_code):
                yield from page.finished()
                page = _Page(shape)
            page.add(written, is_code=is_code)
    yield from page.finished()


class _Page:
    """The text of one section while it grows."""

    def __init__(self, shape: SectionShape) -> None:
        self.shape = shape
        self.is_code = False
        self._lines: list[str] = []
        self._chars = 0

    def has_room(self, line: str, *, is_code: bool) -> bool:
        fences = len(_FENCE) + 1 if is_code is not self.is_code else 0
        return self._chars + len(line) + 1 + fences + _RESERVE <= MAX_CHARS

    def add(self, line: str, *, is_code: bool) -> None:
        if is_code is not self.is_code:
            self._add(_FENCE)
            self.is_code = is_code
        self._add(line)

    def finished(self) -> Iterator[MessageSection]:
        if self.is_code:
            self._add(_FENCE)
        text = "\n".join(self._lines).strip("\n").rstrip()
        if text:
            yield MessageSection(self.shape, text)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._chars += len(line) + 1


def _written(line: TextLine) -> Iterator[str]:
    if line.kind is LineKind.RULE:
        return
    for number, runs in enumerate(wrap(line.runs, _LONGEST_LINE)):
        if line.kind is LineKind.CODE:
            yield escape_code(words_of(runs))
        else:
            indent = line.indent if number == 0 else " " * len(line.indent)
            quote = "> " if line.quoted else ""
            yield f"{quote}{indent[:_LONGEST_INDENT]}{write_line(runs)}".rstrip()
