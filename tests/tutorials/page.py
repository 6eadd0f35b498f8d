"""A tutorial, read into the steps that somebody takes who follows it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = re.compile(r"<!--\s*(\w+):\s*(.+?)\s*-->")
FENCE = re.compile(r"(?P<indent>\s*)```(?P<kind>\S*)\s*")


class PageError(Exception):
    """What nobody could follow; says where."""


@dataclass(frozen=True)
class Commands:
    """What is typed into a terminal. One with a name is left as it runs."""

    text: str
    line: int
    terminal: str = ""


@dataclass(frozen=True)
class Shown:
    """What is seen then; `…` stands for anything, on a line of its own for lines."""

    text: str
    line: int


@dataclass(frozen=True)
class Written:
    """What is written at the end of a file; `…` stands for a value of the reader's."""

    file: str
    text: str
    line: int


@dataclass(frozen=True)
class ByHand:
    """What is done elsewhere: in a browser, in a chat, in an editor."""

    name: str
    line: int


Step = Commands | Shown | Written | ByHand


@dataclass(frozen=True)
class _Fence:
    kind: str
    text: str
    line: int


@dataclass(frozen=True)
class _Mark:
    kind: str
    name: str
    line: int


def read_page(file: Path) -> tuple[Step, ...]:
    """Return the steps in their order; every fence and every mark is one, or of one."""
    return tuple(_steps(_parts(file.read_text().splitlines())))


def _parts(lines: list[str]) -> Iterator[_Fence | _Mark]:
    rows = iter(enumerate(lines, 1))
    for number, line in rows:
        if opened := FENCE.fullmatch(line):
            inside = _until_closed(rows, len(opened["indent"]), number)
            yield _Fence(opened["kind"], inside, number)
        else:
            for kind, name in MARK.findall(line):
                yield _Mark(kind, name, number)


def _until_closed(rows: Iterator[tuple[int, str]], indent: int, start: int) -> str:
    inside: list[str] = []
    for _, line in rows:
        if line.strip() == "```":
            return "\n".join(inside)
        inside.append(line[indent:])
    raise PageError(f"line {start}: a fence is not closed")


def _steps(parts: Iterator[_Fence | _Mark]) -> Iterator[Step]:
    for part in parts:
        if isinstance(part, _Fence):
            yield _plain(part)
        elif part.kind == "hands":
            yield ByHand(part.name, part.line)
        else:
            yield _marked(part, next(parts, None))


def _plain(fence: _Fence) -> Step:
    if fence.kind == "sh":
        return Commands(fence.text, fence.line)
    if fence.kind == "text":
        return Shown(fence.text, fence.line)
    raise PageError(f"line {fence.line}: nobody knows what to do with ```{fence.kind}")


def _marked(mark: _Mark, fence: _Fence | _Mark | None) -> Step:
    if not isinstance(fence, _Fence):
        raise PageError(f"line {mark.line}: no fence follows {mark.kind}: {mark.name}")
    if mark.kind == "terminal" and fence.kind == "sh":
        return Commands(fence.text, fence.line, mark.name)
    if mark.kind == "file":
        return Written(mark.name, fence.text, fence.line)
    raise PageError(f"line {mark.line}: unknown mark {mark.kind}: {mark.name}")
