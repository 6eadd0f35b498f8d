"""Fill in a repository's template for pull requests, as far as we know the answers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from patchwright.core.text.hidden import strip_hidden
from patchwright.integrations.git.objects import ObjectStore

_MAX_BYTES: Final = 65_536
# Where GitHub looks, and in which order.
# https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/creating-a-pull-request-template-for-your-repository
_FOLDERS: Final = (".github", "", "docs")
_NAMES: Final = ("pull_request_template.md", "pull_request_template.txt")
_CHOICE: Final = "pull_request_template"
_DEFAULTS: Final = ("default.md", *_NAMES)


def find_template(code: ObjectStore, sha: str) -> str:
    """Return a repository's template as of a commit, or an empty text.

    Among several the one that is named as the default counts, or the only one.
    """
    path = _choose(code.list_files(sha))
    found = code.read_files(sha, [path], _MAX_BYTES) if path else {}
    raw = found.get(path)
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""


def _choose(paths: tuple[str, ...]) -> str:
    known = {path.lower(): path for path in paths if path.count("/") <= 2}  # noqa: PLR2004 - folder, folder, file
    single = [
        known.get(f"{folder}/{name}".lstrip("/"), "")
        for folder in _FOLDERS
        for name in _NAMES
    ]
    several = [_among(known, f"{folder}/{_CHOICE}".lstrip("/")) for folder in _FOLDERS]
    return next((path for path in (*single, *several) if path), "")


def _among(known: Mapping[str, str], folder: str) -> str:
    inside = {
        PurePosixPath(lower).name: path
        for lower, path in known.items()
        if str(PurePosixPath(lower).parent) == folder
    }
    named = (inside[name] for name in _DEFAULTS if name in inside)
    only = next(iter(inside.values()), "") if len(inside) == 1 else ""
    return next(named, only)


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
_HEADING: Final = re.compile(r"#{1,6}\s+(?P<title>.*?)\s*#*\s*\Z")
_FENCE: Final = re.compile(r"\s{0,3}(?:`{3,}|~{3,})")
_BOX: Final = re.compile(r"\s*[-*+] \[[ xX]\] ")


@dataclass(frozen=True, slots=True)
class Filled:
    """A template with answers in it, and which of ours it has taken up."""

    text: str
    used: frozenset[Slot]


@dataclass(frozen=True, slots=True)
class _Section:
    heading: str
    lines: tuple[str, ...]


def fill(template: str, slots: Mapping[Slot, str]) -> Filled:
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
    return Filled("\n\n".join(part for part in parts if part), frozenset(used))


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
