"""Write our Markdown as messages of Slack."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import groupby
from operator import attrgetter
from typing import Final

from patchwright.core.text.document.reader import read_document
from patchwright.integrations.slack.text.layout import (
    LineKind,
    Runs,
    TextLine,
    TextRun,
    layout_blocks,
    words_of,
)
from patchwright.integrations.slack.text.mrkdwn import (
    MAX_PATH,
    code_span,
    escape_code,
    escape_prose,
    link_address,
)

_STYLES: Final = (("bold", "*"), ("italic", "_"), ("strike", "~"))
_PERSON: Final = re.compile(r"[UW][A-Z0-9]{1,32}")


def write_line(runs: Runs) -> str:
    return _styled(runs, 0, "", "")


def _styled(runs: Runs, style: int, before: str, after: str) -> str:
    """Write runs between two signs; beside a word Slack would not see formatting."""
    if style == len(_STYLES):
        return "".join(map(_write, runs))
    name, mark = _STYLES[style]
    parts: list[str] = []
    groups = [(on, tuple(some)) for on, some in groupby(runs, key=attrgetter(name))]
    for place, (on, group) in enumerate(groups):
        left = words_of(groups[place - 1][1])[-1:] if place else before
        right = words_of(groups[place + 1][1])[:1] if groups[place + 1 :] else after
        inner = _styled(group, style + 1, left, right)
        parts.append(_marked(inner, mark, left, right) if on else inner)
    return "".join(parts)


def _marked(inner: str, mark: str, left: str, right: str) -> str:
    words = inner.strip()
    if not words or left.isalnum() or right.isalnum():
        return inner
    start = inner.index(words)
    return f"{inner[:start]}{mark}{words}{mark}{inner[start + len(words) :]}"


def _write(run: TextRun) -> str:
    if run.person:
        known = _PERSON.fullmatch(run.person)
        return f"<@{run.person}>" if known else escape_prose(run.text)
    if run.url:
        return _link(run)
    return code_span(run.text) if run.code else escape_prose(run.text)


def _link(run: TextRun) -> str:
    url = link_address(run.url)
    if not url:
        return escape_prose(_spelled_out(run))
    is_bare = run.text in (run.url, run.url.removeprefix("mailto:"))
    return f"<{url}>" if is_bare else f"<{url}|{escape_prose(run.text)}>"


def _spelled_out(run: TextRun) -> str:
    """Say where a link goes that Slack has no link for: a path in a repository."""
    is_short = len(run.url) <= MAX_PATH and run.url != run.text
    return f"{run.text} ({run.url})" if is_short else run.text


# What escaping makes of a sign, at most; a picture counts as two letters.
_COSTS: Final = {"&": 5, "<": 4, ">": 5, "*": 3, "_": 3, "~": 3, "`": 2}
# The signs for code, and three pairs of those for formatting.
_AROUND: Final = 16
_BEYOND_BASIC_PLANE: Final = "\U00010000"


def wrap(runs: Runs, room: int) -> Iterator[Runs]:
    """Yield lines that take no more room than this when they are written."""
    line: list[TextRun] = []
    used = 0
    for run in runs:
        for part in _parts(run, room):
            cost = cost_of(part)
            if line and used + cost > room:
                yield tuple(line)
                line, used = [], 0
            line.append(part)
            used += cost
    yield tuple(line)


def cost_of(run: TextRun) -> int:
    """Return how long a run is when written, at most."""
    around = _AROUND + len(run.person) + _cost_of_url(run.url)
    return around + sum(map(_cost, run.text))


def _cost_of_url(url: str) -> int:
    # What is no address is spelled out, if it is short.
    return len(link_address(url)) or len(url[:MAX_PATH]) * max(_COSTS.values())


def _parts(run: TextRun, room: int) -> Iterator[TextRun]:
    """Cut a run, at blanks where there are some."""
    left = run.text
    room -= cost_of(replace(run, text=""))
    while left:
        end = _fitting(left, room)
        if end < len(left):
            end = left.rfind(" ", end // 2, end) + 1 or end
        yield replace(run, text=left[:end])
        left = left[end:]


def _fitting(text: str, room: int) -> int:
    for end, sign in enumerate(text):
        room -= _cost(sign)
        if room < 0:
            return end
    return len(text)


def _cost(sign: str) -> int:
    return _COSTS.get(sign, 2 if sign >= _BEYOND_BASIC_PLANE else 1)


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


Block = dict[str, object]

# Slack takes 50; what is offered below a text needs some.
_MAX_BLOCKS: Final = 45
# Slack refuses somewhat more than 13,000 characters with `msg_blocks_too_long`.
# https://github.com/slackapi/bolt-js/issues/2509
_MAX_CHARS: Final = 11_000
_PER_BLOCK: Final = 80
# https://docs.slack.dev/reference/methods/chat.postMessage/#truncating
_MAX_TEXT: Final = 4_000
_MORE: Final = "\n…"
_NOTHING: Final = "…"


@dataclass(frozen=True, slots=True)
class SlackText:
    """A message; `text` is what shows where blocks do not, as in notifications."""

    text: str
    blocks: tuple[Block, ...] = ()


def render(markdown: str) -> tuple[SlackText, ...]:
    """Return one message, or as many as are needed."""
    whole = list(sections(layout_blocks(read_document(markdown))))
    if not any(section.text for section in whole):
        return (SlackText(_NOTHING),)
    return tuple(map(_message, _messages(whole)))


def _messages(whole: list[MessageSection]) -> Iterator[list[MessageSection]]:
    message: list[MessageSection] = []
    chars = 0
    for section in whole:
        cost = len(section.text) + _PER_BLOCK
        if message and (len(message) == _MAX_BLOCKS or chars + cost > _MAX_CHARS):
            yield message
            message, chars = [], 0
        message.append(section)
        chars += cost
    yield message


def _message(parts: Sequence[MessageSection]) -> SlackText:
    return SlackText(_fallback(parts), tuple(map(_block, parts)))


def _block(section: MessageSection) -> Block:
    # Slack would otherwise make calls and links of plain names.
    # https://docs.slack.dev/reference/block-kit/composition-objects/text-object
    text = {"type": "mrkdwn", "text": section.text, "verbatim": True}
    match section.shape:
        case SectionShape.SECTION:
            return {"type": "section", "text": text}
        case SectionShape.CONTEXT:
            return {"type": "context", "elements": [text]}
        case SectionShape.DIVIDER:
            return {"type": "divider"}


def _fallback(parts: Sequence[MessageSection]) -> str:
    texts = [section.text for section in parts if section.text]
    shown = texts[:1]
    for text in texts[1:]:
        if len("\n".join((*shown, text))) + len(_MORE) > _MAX_TEXT:
            return "\n".join(shown) + _MORE
        shown.append(text)
    return "\n".join(shown)
