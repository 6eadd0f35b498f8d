"""Fill in a repository's templates for pull requests, and keep what people wrote."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from patchwright.core.forge import PullRequestText
from patchwright.core.text.branch_names import render_template
from patchwright.core.text.escape import close_code_block
from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.markdown import PieceKind, read_markdown
from patchwright.core.types.base import Value
from patchwright.core.types.threads import PullRequest

_CODE: Final = (PieceKind.CODE, PieceKind.FENCE)


def fill_body(template: str, values: Mapping[str, str]) -> str:
    """Put the values in; nothing that follows the text is hidden by it.

    Comments go, as they may hold a value that people are to see.
    """
    shown = strip_hidden(template).text
    return close_code_block(render_template(shown, values)).strip()


def is_shown(text: str, part: str) -> bool:
    """Tell whether a text has that part in it, and not as a piece of code."""
    start = text.find(part)
    if start < 0:
        return False
    return not any(
        piece.kind in _CODE and piece.start < start < piece.end
        for piece in read_markdown(text).pieces
    )


class Slot(StrEnum):
    """What we know, by the question that it answers."""

    SUMMARY = "summary"
    ISSUE = "issue"
    EVIDENCE = "evidence"


_HEADINGS: Final = {
    Slot.ISSUE: r"(?:(?:related|linked|associated|corresponding) )?(?:issues?|tickets?)"
    r"(?: (?:number|link|ticket)s?)?|fix(?:es)?|closes|resolves|references?",
    Slot.EVIDENCE: r"tests?|testing(?: (?:done|instructions|plan|notes|steps))?"
    r"|test plan|tested|how (?:has this been|was this|is this|to) test(?:ed)?"
    r"|verification|how did you (?:test|verify)(?: (?:this|it))?",
    Slot.SUMMARY: r"summary|description|overview|changes|what(?:'s| is)? changed"
    r"|(?:what|why|what and why)(?: (?:does|is|was).*)?|proposed changes?|motivation"
    r"|(?:pull request|pr|change) (?:summary|description)|describe your changes?"
    r"|description of (?:the )?changes?|purpose(?: .*)?",
}
_HEADING: Final = re.compile(r"#{1,6}\s+(?P<title>.*)\Z")
_FENCE: Final = re.compile(r"\s{0,3}(?:`{3,}|~{3,})")
_BOX: Final = re.compile(r"\s*[-*+] \[[ xX]\] ")


@dataclass(frozen=True, slots=True)
class FilledTemplate:
    """A template with answers in it, and which of ours it has taken up."""

    text: str
    used: frozenset[Slot]


@dataclass(frozen=True, slots=True)
class _Section:
    heading: str
    lines: tuple[str, ...]


def fill_template(template: str, slots: Mapping[Slot, str]) -> FilledTemplate:
    """Answer the sections whose headings ask for what we know, each once.

    What such a section says to authors goes, its boxes to tick stay; every other
    section stays as it is. Comments go: nobody writes this text by hand.
    """
    parts: list[str] = []
    used: set[Slot] = set()
    for section in _sections(strip_hidden(template).text):
        slot = _slot_of(section.heading)
        if slot is None or slot in used or not slots.get(slot):
            parts.append("\n".join((section.heading, *section.lines)).strip())
            continue
        used.add(slot)
        boxes = "\n".join(line for line in section.lines if _BOX.match(line))
        parts += [section.heading, slots[slot], boxes]
    return FilledTemplate("\n\n".join(part for part in parts if part), frozenset(used))


def _sections(text: str) -> Iterator[_Section]:
    heading, lines, fenced = "", list[str](), False
    for line in text.split("\n"):
        fenced ^= bool(_FENCE.match(line))
        if not fenced and _HEADING.match(line):
            yield _Section(heading, tuple(lines))
            heading, lines = line, []
        else:
            lines.append(line)
    yield _Section(heading, tuple(lines))


def _slot_of(heading: str) -> Slot | None:
    found = _HEADING.match(heading)
    if found is None:
        return None
    title = re.sub(r"[^\w' ]", " ", found["title"]).strip().lower()
    title = " ".join(title.split())
    fits = (slot for slot, titles in _HEADINGS.items() if re.fullmatch(titles, title))
    return next(fits, None)


MAX_CHARS: Final = 65_536
_END: Final = "<!-- patchwright:end -->"
_MARKED: Final = re.compile(
    r"<!-- patchwright:body text=(?P<text>\w+) title=(?P<title>\w+) -->\n"
    rf"(?P<ours>.*?)\n{re.escape(_END)}",
    re.DOTALL,
)
_DIGITS: Final = 12


class PeoplesText(Value):
    """What people say in a pull request, around what we say."""

    before: str = ""
    after: str = ""
    title: str = ""

    @property
    def size(self) -> int:
        return len(self.before) + len(self.after)


def find_peoples_text(pull: PullRequest) -> PeoplesText:
    """Tell people's words from ours.

    Our own text stands between two marks, and the first of them knows how it and the
    title were when we wrote them: where either is another one now, a person has
    written it. A text without marks is theirs.
    """
    # A browser sends a text back with other line ends.
    body = pull.body.replace("\r\n", "\n")
    found = _MARKED.search(body)
    if found is None:
        return PeoplesText(before=body.strip())
    before, after = body[: found.start()].strip(), body[found.end() :].strip()
    if _digest(found["ours"]) != found["text"]:
        before = "\n\n".join(part for part in (before, found["ours"].strip()) if part)
    ours_still = _digest(pull.title) == found["title"]
    return PeoplesText(
        before=before, after=after, title="" if ours_still else pull.title
    )


def mark_own_text(text: PullRequestText) -> PullRequestText:
    """Put our marks around a text, for the time when we come back to it."""
    body = f"\n{text.body.strip()}\n"
    start = f"text={_digest(body)} title={_digest(text.title)}"
    marked = f"<!-- patchwright:body {start} -->\n{body}\n{_END}"
    return text.replace(body=marked)


def combine_texts(marked: PullRequestText, kept: PeoplesText) -> PullRequestText:
    """Put our text between what people wrote; theirs alone where both are too long."""
    parts = (kept.before, marked.body, kept.after)
    body = "\n\n".join(part for part in parts if part)
    if len(body) > MAX_CHARS:
        body = "\n\n".join(part for part in (kept.before, kept.after) if part)
    return marked.replace(title=kept.title or marked.title, body=body[:MAX_CHARS])


# A forge says some words its own way, and sees to it that no line is a command to it.
_MERGE: Final = re.compile(r"\b(?:(m)|M)erge(?= requests?\b)")


def _digest(text: str) -> str:
    """Return what tells a text from others, whichever forge has it."""
    words = " ".join(text.split()).replace("\\/", "/")
    words = _MERGE.sub(lambda found: "pull" if found[1] else "Pull", words)
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
