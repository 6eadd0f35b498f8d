"""Flatten a paragraph to stretches of text that look the same throughout."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.types import (
    Mention,
    Code,
    Emphasis,
    Inline,
    Inlines,
    LineBreak,
    Hyperlink,
    InlineImage,
    Subscript,
    Strike,
    Strong,
    PlainText,
)


@dataclass(frozen=True, slots=True)
class TextRun:
    """Some text of one line; with `url` it is a link, with `person` it calls them."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    url: str = ""
    person: str = ""


Runs = tuple[TextRun, ...]
PLAIN = TextRun("")


def lines_of(inlines: Inlines, look: TextRun = PLAIN) -> Iterator[Runs]:
    """Yield the lines of a paragraph; Slack ends all formatting with a line."""
    line: list[TextRun] = []
    for run in _flatten(inlines, look):
        if run is _LINE_END:
            yield tuple(line)
            line = []
        elif run.text:
            line.append(run)
    yield tuple(line)


def words_of(runs: Runs) -> str:
    return "".join(run.text for run in runs)


_LINE_END = TextRun("\n")


def _flatten(inlines: Inlines, look: TextRun) -> Iterator[TextRun]:
    for inline in inlines:
        yield from _runs(inline, look)


def _runs(inline: Inline, look: TextRun) -> Iterator[TextRun]:
    match inline:
        case PlainText(text):
            yield replace(look, text=text.replace("\n", " "))
        case Code(text):
            yield replace(look, text=text.replace("\n", " "), code=True)
        case LineBreak():
            yield _LINE_END
        case Hyperlink(url, children):
            words = _on_one_line(plain_text(children)) or url
            yield replace(look, text=words, url=url)
        case InlineImage(url, alt):
            yield replace(look, text=_on_one_line(alt) or "picture", url=url)
        case Mention(person_id, name):
            yield replace(look, text=f"@{name}", person=person_id)
        case _:
            yield from _flatten(inline.children, _look(inline, look))


def _look(inline: Strong | Emphasis | Strike | Subscript, look: TextRun) -> TextRun:
    match inline:
        case Strong():
            return replace(look, bold=True)
        case Emphasis():
            return replace(look, italic=True)
        case Strike():
            return replace(look, strike=True)
        case Subscript():
            return look


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
