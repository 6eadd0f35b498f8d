"""The search for passages in a repository's pages, and its protocol."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from patchwright.core.events.observations import Recalled
from patchwright.core.knowledge.pages import MAX_LISTED, SPEAKER, KnowledgePage
from patchwright.core.text.escape import as_data
from patchwright.core.types.base import Value


class KnowledgeLibrary(Protocol):
    """Texts from the base branch: how to work here, and what to know about parts."""

    def recall(self, query: str) -> Recalled:
        """Return what there is about it; that there is nothing is said as well."""
        ...


class NoKnowledgeLibrary:
    """What a run has whose repository says nothing."""

    def recall(self, query: str) -> Recalled:
        return Recalled(text=f"This repository says nothing about {query!r}.")


MAX_PASSAGE_CHARS = 3_000
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Passage(Value):
    """A part of a page; `number` counts the parts that share a heading, from 1."""

    path: str
    heading: str
    text: str
    number: int = 1

    @property
    def title(self) -> str:
        part = f" ({self.number})" if self.number > 1 else ""
        return f"{self.path} {self.heading}{part}".strip()


def split_page(page: KnowledgePage) -> Iterator[Passage]:
    """Return the passages in order; together they hold the whole text."""
    for heading, text in _sections(page.text):
        for number, part in enumerate(_parts(text), start=1):
            yield Passage(path=page.path, heading=heading, text=part, number=number)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    heading, lines, fence = "", list[str](), ""
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
        found = None if fence else _HEADING.fullmatch(line)
        if found and lines:
            yield heading, "\n".join(lines)
            lines = []
        heading = found[1].rstrip().rstrip("#").rstrip() if found else heading
        lines.append(line)
    yield heading, "\n".join(lines)


def _fence_after(line: str, fence: str) -> str:
    """Return the marks of the code block that is open after this line."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    return "" if found[1].startswith(fence) else fence


def _parts(text: str) -> Iterator[str]:
    """Cut where a line ends, if there is such a place."""
    while len(text) > MAX_PASSAGE_CHARS:
        at = text.rfind("\n", 0, MAX_PASSAGE_CHARS) + 1 or MAX_PASSAGE_CHARS
        yield text[:at].strip("\n")
        text = text[at:]
    if text.strip():
        yield text.strip("\n")


MAX_PASSAGES = 6
MAX_ANSWER_CHARS = 12_000
_TITLE_WORTH = 4
_MOST_OF_A_WORD = 4
_WORD = re.compile(r"[^\W_]+")
# Words without blanks between them are looked for as they stand.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_EMPTY_WORDS = frozenset(
    _WORD.findall(
        "a about an and are as at be by do does for from how i in is it of on or the "
        "this to what when where which with you"
    )
)
_PLURAL_FROM = 4


def search_pages(pages: Sequence[KnowledgePage], query: str) -> Recalled:
    """Return the passages that fit best, each with its source, best first.

    A page that the query names is the only one that is searched; with nothing but its
    path it is returned from its beginning.
    """
    named = [page for page in pages if _is_named(page.path, query)]
    for page in named:
        query = query.replace(page.path, " ")
    passages = [passage for page in named or pages for passage in split_page(page)]
    terms = _terms(query)
    found = _best(passages, terms) if terms else passages if named else []
    return _answer(found or (passages if named else [])) or _nothing(query, pages)


def _is_named(path: str, query: str) -> bool:
    before, after = r"(?<![\w./-])", r"(?![\w/-]|\.\w)"
    return re.search(f"{before}{re.escape(path)}{after}", query) is not None


def _terms(text: str) -> frozenset[str]:
    meant = (word for word in _WORD.findall(text.lower()) if word not in _EMPTY_WORDS)
    return frozenset(map(_singular, meant))


def _words(text: str) -> list[str]:
    return [_singular(word) for word in _WORD.findall(text.lower())]


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) >= _PLURAL_FROM else word


def _best(passages: Iterable[Passage], terms: frozenset[str]) -> list[Passage]:
    scored = [(_score(passage, terms), passage) for passage in passages]
    top = max((score for score, _ in scored), default=0)
    kept = [pair for pair in scored if pair[0] > 0 and pair[0] * 4 >= top]
    ranked = sorted(kept, key=lambda pair: -pair[0])
    return [passage for _, passage in ranked[:MAX_PASSAGES]]


def _score(passage: Passage, terms: frozenset[str]) -> int:
    """Count the terms, those in the title more; several different ones most."""
    title, words = _words(passage.title), _words(passage.text)
    worths = [
        _TITLE_WORTH * min(_count(term, title, passage.title), 1)
        + min(_count(term, words, passage.text), _MOST_OF_A_WORD)
        for term in terms
    ]
    return sum(worths) * sum(worth > 0 for worth in worths)


def _count(term: str, words: list[str], text: str) -> int:
    return text.count(term) if _UNSPACED.fullmatch(term) else words.count(term)


def _answer(passages: Sequence[Passage]) -> Recalled | None:
    parts: list[str] = []
    shown: list[Passage] = []
    room = MAX_ANSWER_CHARS
    for passage in passages:
        room -= len(passage.text)
        if room < 0:
            break
        parts.append(as_data(passage.title, SPEAKER, passage.text))
        shown.append(passage)
    if not shown:
        return None
    rest = [f"`{passage.title}`" for passage in passages[len(shown) :][:MAX_LISTED]]
    if rest:
        parts.append(f"Not shown for want of room: {', '.join(rest)}.")
    sources = tuple(dict.fromkeys(passage.path for passage in shown))
    return Recalled(text="\n\n".join(parts), sources=sources)


def _nothing(query: str, pages: Sequence[KnowledgePage]) -> Recalled:
    answer = f"This repository says nothing about {query.strip()!r}."
    paths = [f"`{page.path}`" for page in pages[:MAX_LISTED]]
    there = f" There is: {', '.join(paths)}." if paths else ""
    return Recalled(text=answer + there)
