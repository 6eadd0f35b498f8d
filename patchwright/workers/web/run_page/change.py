"""A diff as people read it: by file, with the numbers and the syntax of its lines."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise, zip_longest
from typing import Final

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType
from pygments.util import ClassNotFound

from patchwright.core.types.base import Value

# Whoever changes a file may have written it so that a lexer takes its time.
_MOST_LEXED_CHARS: Final = 100_000
_MOST_LINE_CHARS: Final = 500
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)", re.DOTALL)


class DiffLineKind(StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    NOTE = "note"

    @property
    def sign(self) -> str:
        return {"added": "+", "removed": "-"}.get(self, " ")


_BEFORE: Final = (DiffLineKind.SAME, DiffLineKind.REMOVED)
_AFTER: Final = (DiffLineKind.SAME, DiffLineKind.ADDED)


class DiffLine(Value):
    """A line and its numbers before and after, None where it is not there."""

    kind: DiffLineKind
    old: int | None
    new: int | None
    html: str

    @property
    def code(self) -> Markup:
        return Markup(self.html)  # noqa: S704 - escaped by `_lexed`


class ShownHunk(Value):
    """Lines that stand together; `heading` names what they are in."""

    heading: str
    lines: tuple[DiffLine, ...]

    def pairs(self) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
        """Yield what stands beside each other, before and after."""
        removed: list[DiffLine] = []
        added: list[DiffLine] = []
        for line in self.lines:
            match line.kind:
                case DiffLineKind.REMOVED:
                    removed.append(line)
                case DiffLineKind.ADDED:
                    added.append(line)
                case DiffLineKind.SAME:
                    yield from zip_longest(removed, added)
                    removed, added = [], []
                    yield line, line
                case DiffLineKind.NOTE:
                    continue
        yield from zip_longest(removed, added)


class ShownFile(Value):
    """The part of a diff that is about one file; `notes` are git's own lines."""

    name: str
    added: int
    removed: int
    notes: tuple[str, ...]
    hunks: tuple[ShownHunk, ...]


def read_change(diff: str) -> tuple[ShownFile, ...]:
    """Divide a diff at git's own headings, to be read file by file."""
    parts: list[list[str]] = []
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            parts.append([])
        if parts:
            parts[-1].append(line)
    budget = _MOST_LEXED_CHARS
    files = []
    for part in parts:
        size = sum(map(len, part))
        name = part[0].rpartition(" b/")[2]
        files.append(_file(name, part[1:], is_lexed=size <= budget))
        budget -= size
    return tuple(files)


def read_file_change(diff: str, name: str) -> ShownFile:
    """Read the diff of one file, which may begin without a heading of git's."""
    return _file(name, diff.split("\n"), is_lexed=len(diff) <= _MOST_LEXED_CHARS)


def _file(name: str, lines: Sequence[str], *, is_lexed: bool) -> ShownFile:
    starts = [n for n, line in enumerate(lines) if _HUNK.match(line)]
    first = starts[0] if starts else len(lines)
    lexer = _lexer_of(name) if is_lexed else None
    hunks = tuple(
        _hunk(lines[start:end], lexer) for start, end in pairwise([*starts, len(lines)])
    )
    kinds = [line.kind for hunk in hunks for line in hunk.lines]
    return ShownFile(
        name=name,
        added=kinds.count(DiffLineKind.ADDED),
        removed=kinds.count(DiffLineKind.REMOVED),
        notes=tuple(map(_note, filter(_is_note, lines[:first]))),
        hunks=hunks,
    )


def _is_note(line: str) -> bool:
    """Tell whether git says more there than the name, which is the title already."""
    return bool(line) and not line.startswith(("index ", "--- ", "+++ "))


def _note(line: str) -> str:
    """Leave out the mode that nearly every file has; others are worth a look."""
    return line.removesuffix(" mode 100644")


# An empty line is one without its sign, which some tools trim.
_KINDS: Final = {
    "": DiffLineKind.SAME,
    " ": DiffLineKind.SAME,
    "+": DiffLineKind.ADDED,
    "-": DiffLineKind.REMOVED,
}


def _kind(line: str) -> DiffLineKind:
    return _KINDS.get(line[:1], DiffLineKind.NOTE)


def _hunk(lines: Sequence[str], lexer: Lexer | None) -> ShownHunk:
    heading = _HUNK.match(lines[0])
    assert heading is not None  # noqa: S101 - hunks begin there
    old, new = int(heading[1]), int(heading[2])
    body = list(lines[1:])
    while body and not body[-1]:
        body.pop()
    codes = [(_kind(one), one[1:]) for one in body]
    before = _lexed([text for kind, text in codes if kind in _BEFORE], lexer)
    after = _lexed([text for kind, text in codes if kind in _AFTER], lexer)
    read = []
    for line in body:
        kind = _kind(line)
        old_html = next(before) if kind in _BEFORE else str(escape(line))
        read.append(
            DiffLine(
                kind=kind,
                old=old if kind in _BEFORE else None,
                new=new if kind in _AFTER else None,
                html=next(after) if kind in _AFTER else old_html,
            )
        )
        old += kind in _BEFORE
        new += kind in _AFTER
    return ShownHunk(heading=heading[3].strip(), lines=tuple(read))


def _lexer_of(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _lexed(lines: Sequence[str], lexer: Lexer | None) -> Iterator[str]:
    """Yield each line as HTML, with classes for what is told apart by color."""
    if lexer is None or any(len(one) > _MOST_LINE_CHARS for one in lines):
        yield from (str(escape(one)) for one in lines)
        return
    shown: list[_LexedLine] = [_LexedLine()]
    for token, text in lexer.get_tokens("\n".join(lines)):
        name = _class_of(token)
        for index, part in enumerate(text.split("\n")):
            if index:
                shown.append(_LexedLine())
            shown[-1].add(part, name)
    # A lexer takes more for the end of a line than git does, and leaves out some
    # characters; what a line is shown as is what it is.
    for line, found in zip_longest(lines, shown[: len(lines)]):
        is_same = found is not None and found.text == line
        yield found.html if is_same else str(escape(line))


class _LexedLine:
    def __init__(self) -> None:
        self.text, self.html = "", Markup()

    def add(self, part: str, name: str) -> None:
        self.text += part
        is_marked = name and part.strip()
        self.html += _SPAN.format(name, part) if is_marked else escape(part)


_SPAN: Final = Markup('<span class="{}">{}</span>')
_CLASSES: Final = (
    (Comment, "s-c"),
    (String, "s-s"),
    (Keyword, "s-k"),
    (Number, "s-n"),
    (Name.Function, "s-f"),
    (Name.Class, "s-f"),
    (Name.Decorator, "s-f"),
    (Name.Tag, "s-k"),
    (Name.Attribute, "s-f"),
    (Name.Builtin, "s-b"),
)


def _class_of(token: _TokenType) -> str:
    return next((name for kind, name in _CLASSES if token in kind), "")
