"""Fill in a repository's template for pull requests, as far as we know the answers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from patchwright.core.text.hidden import strip_hidden


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
