"""Read wiki markup, the texts of Jira's webhooks and of data centers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import groupby
from typing import Final, Literal, assert_never

from patchwright.core.text.document import types as doc
from patchwright.integrations.jira.text.markdown_writer import write_markdown
from patchwright.integrations.jira.text.wiki_inlines import read_inlines

LIST_LINE: Final = re.compile(r"(?P<marks>[*#]{1,30}|-(?=\s))(?:\s+(?P<words>\S.*)|\Z)")
# Deeper entries are shown at this depth.
_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class _ListEntry:
    marks: str
    lines: list[str]


def read_list(lines: list[str]) -> Iterator[doc.ListBlock]:
    return _nested(list(_entries(lines)), 0)


def _entries(lines: list[str]) -> Iterator[_ListEntry]:
    entry: _ListEntry | None = None
    for line in lines:
        found = LIST_LINE.match(line)
        if found:
            if entry:
                yield entry
            entry = _ListEntry(found["marks"][:_DEEPEST], [found["words"] or ""])
        elif entry:
            entry.lines.append(line)
    if entry:
        yield entry


def _nested(entries: list[_ListEntry], depth: int) -> Iterator[doc.ListBlock]:
    for mark, group in groupby(entries, lambda entry: entry.marks[depth]):
        items = tuple(_items(list(group), depth))
        yield doc.ListBlock(items, 1 if mark == "#" else None)


def _items(entries: list[_ListEntry], depth: int) -> Iterator[doc.ListItem]:
    """Put deeper entries below the one before them."""
    at = 0
    while at < len(entries):
        blocks: list[doc.Block] = []
        if len(entries[at].marks) == depth + 1:
            blocks.append(_paragraph(entries[at].lines))
            at += 1
        below = at
        while at < len(entries) and len(entries[at].marks) > depth + 1:
            at += 1
        blocks += _nested(entries[below:at], depth + 1)
        yield doc.ListItem(tuple(blocks))


def _paragraph(lines: list[str]) -> doc.Paragraph:
    inlines: list[doc.Inline] = list(read_inlines(lines[0]))
    for line in lines[1:]:
        inlines += [doc.LineBreak(), *read_inlines(line)]
    return doc.Paragraph(tuple(inlines))


_HEADING: Final = re.compile(r"h([1-6])\.(?:\s+(.*)|\Z)")
_QUOTE: Final = re.compile(r"bq\.(?:\s+(.*)|\Z)")
_RULE: Final = re.compile(r"-{4,}\Z")
# A bar inside a link, a picture or code divides nothing.
_PIECE: Final = re.compile(
    r"(?P<bar>\|\|?)|\\.|\[[^\]\[\n]{0,2000}\]|\{\{(?:(?!\{\{|\}\}).){0,1000}\}\}"
    r"|![^\s!|][^!|\n]{0,300}\|[^!\n|]{0,200}!|."
)
_MAX_CELLS: Final = 10_000


class _LineKind(Enum):
    BLANK = auto()
    HEADING = auto()
    QUOTE = auto()
    RULE = auto()
    LIST = auto()
    TABLE = auto()
    WORDS = auto()


def read_lines(text: str) -> doc.Blocks:
    lines = [line.strip() for line in text.split("\n")]
    groups = groupby(zip(_kinds(lines), lines, strict=True), lambda pair: pair[0])
    return tuple(
        block
        for kind, group in groups
        for block in _line_blocks(kind, [line for _, line in group])
    )


def _kinds(lines: list[str]) -> Iterator[_LineKind]:
    """Tell the lines apart; words below an entry of a list belong to it."""
    before = _LineKind.BLANK
    for line in lines:
        kind = _kind(line)
        if kind is _LineKind.WORDS and before is _LineKind.LIST:
            kind = _LineKind.LIST
        before = kind
        yield kind


def _kind(line: str) -> _LineKind:
    if not line:
        return _LineKind.BLANK
    if _HEADING.match(line):
        return _LineKind.HEADING
    if _QUOTE.match(line):
        return _LineKind.QUOTE
    if _RULE.match(line):
        return _LineKind.RULE
    if LIST_LINE.match(line):
        return _LineKind.LIST
    return (
        _LineKind.TABLE if line.startswith("|") and len(line) > 1 else _LineKind.WORDS
    )


def _line_blocks(kind: _LineKind, lines: list[str]) -> Iterator[doc.Block]:
    match kind:
        case _LineKind.BLANK:
            return
        case _LineKind.HEADING:
            yield from (_heading(line) for line in lines)
        case _LineKind.QUOTE:
            for line in lines:
                quoted = read_inlines(line.removeprefix("bq.").strip())
                yield doc.BlockQuote((doc.Paragraph(quoted),))
        case _LineKind.RULE:
            yield from (doc.HorizontalRule() for _ in lines)
        case _LineKind.LIST:
            yield from read_list(lines)
        case _LineKind.TABLE:
            yield _grid(lines)
        case _LineKind.WORDS:
            yield doc.Paragraph(_joined_lines(lines))
        case _:
            assert_never(kind)


def _heading(line: str) -> doc.Heading:
    found = _HEADING.match(line)
    level, words = (int(found[1]), found[2] or "") if found else (1, line)
    return doc.Heading(level, read_inlines(words))


def _joined_lines(lines: list[str]) -> doc.Inlines:
    inlines: list[doc.Inline] = list(read_inlines(lines[0]))
    for line in lines[1:]:
        inlines += [doc.LineBreak(), *read_inlines(line)]
    return tuple(inlines)


def _grid(lines: list[str]) -> doc.Table | doc.Paragraph:
    rows = [_cells(line) for line in lines]
    width = max(map(len, rows))
    if width * len(rows) > _MAX_CELLS:
        # A wide row would add as many cells to thousands that have none.
        return doc.Paragraph(_joined_lines(lines))
    cells = [tuple(map(read_inlines, row + [""] * (width - len(row)))) for row in rows]
    if lines[0].startswith("||"):
        return doc.Table(cells[0], tuple(cells[1:]))
    return doc.Table(((),) * width, tuple(cells))


def _cells(line: str) -> list[str]:
    begin: int | None = None
    cells: list[str] = []
    for piece in _PIECE.finditer(line):
        if piece["bar"]:
            if begin is not None:
                cells.append(line[begin : piece.start()].strip())
            begin = piece.end()
    last = line[begin:].strip()
    return [*cells, last] if last or not cells else cells


# https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=advanced
_MACRO: Final = re.compile(
    r"(?<!\\)\{(?P<name>code|noformat|quote|panel)(?::(?P<settings>[^}\n]{0,300}))?\}"
)
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Prose:
    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class MacroBox:
    name: Literal["quote", "panel"]
    title: str
    parts: tuple["WikiPart", ...]


WikiPart = Prose | Verbatim | MacroBox


@dataclass(frozen=True, slots=True)
class _Border:
    """The begin or the end of a box: only what else is there tells which."""

    name: Literal["quote", "panel"]
    settings: str
    source: str


def split_macros(text: str) -> tuple[WikiPart, ...]:
    """Return the parts of a text; a macro that nothing closes is prose."""
    return _joined_prose(_boxed(list(_flat(text)), frozenset()))


def _flat(text: str) -> Iterator[Prose | Verbatim | _Border]:
    done = 0
    unclosed: set[str] = set()
    while macro := _MACRO.search(text, done):
        begin, name, settings = macro.end(), macro["name"], macro["settings"] or ""
        yield Prose(text[done : macro.start()])
        closing = f"{{{name}}}"
        end = -1 if closing in unclosed else text.find(closing, begin)
        unclosed |= {closing} if end < 0 else set()
        done = begin
        if name == "quote":
            yield _Border("quote", settings, macro[0])
        elif name == "panel":
            yield _Border("panel", settings, macro[0])
        elif end < 0:
            yield Prose(macro[0])
        else:
            yield Verbatim(_lines(text[begin:end]), _language(settings))
            done = end + len(closing)
    yield Prose(text[done:])


def _boxed(
    flat: list[Prose | Verbatim | _Border], inside: frozenset[str]
) -> Iterator[WikiPart]:
    at = 0
    while at < len(flat):
        part = flat[at]
        at += 1
        if not isinstance(part, _Border):
            yield part
            continue
        end = _end_of(flat, part, at) if part.name not in inside else None
        if end is None:
            # Nothing ends the next one either.
            inside |= {part.name}
            yield Prose(part.source)
            continue
        inner = _joined_prose(_boxed(flat[at:end], inside | {part.name}))
        yield MacroBox(part.name, _title(part.settings), inner)
        at = end + 1


def _joined_prose(parts: Iterator[WikiPart]) -> tuple[WikiPart, ...]:
    joined: list[WikiPart] = []
    for is_prose, group in groupby(parts, lambda part: isinstance(part, Prose)):
        if is_prose:
            texts = (part.text for part in group if isinstance(part, Prose))
            joined.append(Prose("".join(texts)))
        else:
            joined += group
    return tuple(joined)


def _end_of(
    flat: list[Prose | Verbatim | _Border], begin: _Border, at: int
) -> int | None:
    for place in range(at, len(flat)):
        part = flat[place]
        if isinstance(part, _Border) and part.name == begin.name and not part.settings:
            return place
    return None


def _lines(body: str) -> str:
    """Leave off the line ends that belong to the macro."""
    return body.removeprefix("\n").removesuffix("\n")


def _language(settings: str) -> str:
    """Return the language of `java`, `java|title=x` or `language=java`."""
    for setting in settings.split("|"):
        key, equals, value = setting.partition("=")
        word = value if key.strip() == "language" else "" if equals else key
        if _LANGUAGE.fullmatch(word.strip()):
            return word.strip()
    return ""


def _title(settings: str) -> str:
    pairs = (setting.partition("=") for setting in settings.split("|"))
    return next((value.strip() for key, _, value in pairs if key == "title"), "")


def wiki_to_markdown(text: str) -> str:
    return write_markdown(wiki_blocks(text))


def wiki_blocks(text: str) -> doc.Blocks:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _blocks(split_macros(text))


def _blocks(parts: tuple[WikiPart, ...]) -> doc.Blocks:
    return tuple(block for part in parts for block in _part(part))


def _part(part: WikiPart) -> Iterator[doc.Block]:
    match part:
        case Prose(text):
            yield from read_lines(text)
        case Verbatim(text, language):
            yield doc.CodeBlock(text, language)
        case MacroBox("quote", _, parts):
            yield doc.BlockQuote(_blocks(parts))
        case MacroBox(_, title, parts):
            if title:
                yield doc.Paragraph((doc.Strong((doc.PlainText(title),)),))
            yield from _blocks(parts)
        case _:
            assert_never(part)
