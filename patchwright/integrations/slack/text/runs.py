"""Flatten a paragraph to stretches of text that look the same throughout."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.types import (
    Call,
    Code,
    Emphasis,
    Inline,
    Inlines,
    LineBreak,
    Link,
    Picture,
    Small,
    Strike,
    Strong,
    Text,
)


@dataclass(frozen=True, slots=True)
class Run:
    """Some text of one line; with `url` it is a link, with `person` it calls them."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    url: str = ""
    person: str = ""


Runs = tuple[Run, ...]
PLAIN = Run("")


def lines_of(inlines: Inlines, look: Run = PLAIN) -> Iterator[Runs]:
    """Yield the lines of a paragraph; Slack ends all formatting with a line."""
    line: list[Run] = []
    for run in _flatten(inlines, look):
        if run is _LINE_END:
            yield tuple(line)
            line = []
        elif run.text:
            line.append(run)
    yield tuple(line)


def words_of(runs: Runs) -> str:
    return "".join(run.text for run in runs)


_LINE_END = Run("\n")


def _flatten(inlines: Inlines, look: Run) -> Iterator[Run]:
    for inline in inlines:
        yield from _runs(inline, look)


def _runs(inline: Inline, look: Run) -> Iterator[Run]:
    match inline:
        case Text(text):
            yield replace(look, text=text.replace("\n", " "))
        case Code(text):
            yield replace(look, text=text.replace("\n", " "), code=True)
        case LineBreak():
            yield _LINE_END
        case Link(url, children):
            words = _on_one_line(plain_text(children)) or url
            yield replace(look, text=words, url=url)
        case Picture(url, alt):
            yield replace(look, text=_on_one_line(alt) or "picture", url=url)
        case Call(person_id, name):
            yield replace(look, text=f"@{name}", person=person_id)
        case _:
            yield from _flatten(inline.children, _look(inline, look))


def _look(inline: Strong | Emphasis | Strike | Small, look: Run) -> Run:
    match inline:
        case Strong():
            return replace(look, bold=True)
        case Emphasis():
            return replace(look, italic=True)
        case Strike():
            return replace(look, strike=True)
        case Small():
            return look


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
