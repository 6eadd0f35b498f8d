"""The parts of a pull request's text that are ours to keep true, between marks.

People may edit the text around them, and move them. What we say again later replaces
these parts where they are, and nothing else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Proof

MAX_BODY_CHARS: Final = 65_536


class BodyPart(StrEnum):
    """What a part says: `words` are those of one run about its change."""

    VERDICT = "verdict"
    EVIDENCE = "evidence"
    REMARKS = "remarks"
    SIZE = "size"
    FOOTER = "footer"
    WORDS = "words"


_PART: Final = re.compile(
    r"<!-- patchwright:part=(?P<name>\w+)(?P<facts>(?: \w+=[\w.-]*)*) -->\n"
    r"(?P<text>.*?)\n<!-- patchwright:end=(?P=name) -->",
    re.DOTALL,
)
_FACT: Final = re.compile(r" (?P<name>\w+)=(?P<value>[\w.-]*)")
_SINCE: Final = "**Since then**"


def mark_part(name: BodyPart, text: str, **facts: str) -> str:
    """Return a text between the marks of a part; an empty one keeps its place."""
    told = "".join(f" {fact}={value}" for fact, value in facts.items())
    start = f"<!-- patchwright:part={name}{told} -->"
    # A table goes on until there is an empty line.
    return f"{start}\n{text}\n\n<!-- patchwright:end={name} -->"


class BodyState(Value):
    """What was so when the verdict was written: the head, its level of proof, a draft.

    `is_draft` is how we left the pull request; where it is not so any more, a person
    has decided.
    """

    head_sha: str
    level: Proof
    is_draft: bool


@dataclass(frozen=True)
class PartMarks:
    """Puts marks around the parts that a run writes; without a state there are none."""

    state: BodyState | None
    run_id: str

    def part(self, name: BodyPart, text: str) -> str:
        return text if self.state is None else mark_part(name, text)

    def words(self, text: str) -> str:
        if self.state is None or not text:
            return text
        return mark_part(BodyPart.WORDS, text, run=self.run_id)

    def verdict(self, text: str) -> str:
        state = self.state
        if state is None:
            return text
        facts = {
            "head": state.head_sha,
            "level": state.level,
            "draft": "yes" if state.is_draft else "no",
        }
        return mark_part(BodyPart.VERDICT, text, **facts)


def find_state(body: str) -> BodyState | None:
    """Return what the verdict in a body is about; None if there is none of ours."""
    for name, match in _parts_of(_plain(body)):
        facts = {one["name"]: one["value"] for one in _FACT.finditer(match["facts"])}
        level = next((one for one in Proof if one == facts.get("level")), None)
        if name is BodyPart.VERDICT and facts.get("head") and level is not None:
            return BodyState(
                head_sha=facts["head"],
                level=level,
                is_draft=facts.get("draft") == "yes",
            )
    return None


def has_parts(body: str) -> bool:
    return any(True for _ in _parts_of(_plain(body)))


def replace_parts(body: str, new: str, *, adds_words: bool = True) -> str:
    """Return a body with the parts of a new text in place of its own.

    The words of earlier runs stay, and those of this one come after them. A verdict
    that a person has taken out comes first again.
    """
    fresh = dict(_parts_of(new))

    def put(found: re.Match[str]) -> str:
        name = _name_of(found)
        if name is None or name is BodyPart.WORDS:
            return found[0]
        return fresh[name][0] if name in fresh else mark_part(name, "")

    old = _plain(body)
    changed = _PART.sub(put, old)
    has_verdict = any(name is BodyPart.VERDICT for name, _ in _parts_of(old))
    if not has_verdict and BodyPart.VERDICT in fresh:
        changed = f"{fresh[BodyPart.VERDICT][0]}\n\n{changed}"
    words = fresh.get(BodyPart.WORDS)
    return _with_words(changed, words) if words and adds_words else changed


def replace_verdict(body: str, text: str) -> str:
    """Return a body with another text as its verdict, which is still about its head."""

    def put(found: re.Match[str]) -> str:
        if _name_of(found) is not BodyPart.VERDICT:
            return found[0]
        start, end = found.start("text") - found.start(), found.end("text")
        return f"{found[0][:start]}{text}\n{found[0][end - found.start() :]}"

    return _PART.sub(put, _plain(body))


def _with_words(body: str, new: re.Match[str]) -> str:
    """Add a run's words after those of earlier runs, or in place of its own."""
    earlier = [one for name, one in _parts_of(body) if name is BodyPart.WORDS]
    if not earlier:
        return body
    same = next((one for one in earlier if one["facts"] == new["facts"]), None)
    if same is not None:
        text = new["text"] if same is earlier[0] else _later(new["text"])
        return f"{body[: same.start('text')]}{text}{body[same.end('text') :]}"
    added = new[0].replace(new["text"], _later(new["text"]), 1)
    changed = f"{body[: earlier[-1].end()]}\n\n{added}{body[earlier[-1].end() :]}"
    if len(changed) <= MAX_BODY_CHARS or len(earlier) == 1:
        return changed
    # The first run's words say what the pull request is for.
    second = earlier[1]
    return _with_words(f"{body[: second.start()]}{body[second.end() :]}", new)


def _later(text: str) -> str:
    return f"{_SINCE}\n\n{text}"


def _parts_of(body: str) -> Iterator[tuple[BodyPart, re.Match[str]]]:
    for found in _PART.finditer(body):
        name = _name_of(found)
        if name is not None:
            yield name, found


def _name_of(found: re.Match[str]) -> BodyPart | None:
    return next((one for one in BodyPart if one == found["name"]), None)


def _plain(body: str) -> str:
    # A browser sends a text back with other line ends.
    return body.replace("\r\n", "\n")
