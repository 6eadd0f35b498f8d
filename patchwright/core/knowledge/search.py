"""Look something up in pages, by the words that they share with a question."""

import re
from collections.abc import Iterable, Sequence

from patchwright.core.events.types import Recalled
from patchwright.core.knowledge.knowledge import MAX_LISTED, SPEAKER
from patchwright.core.knowledge.pages import KnowledgePage
from patchwright.core.knowledge.passages import Passage, split_page
from patchwright.core.text.fence import as_data

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
    said = f"This repository says nothing about {query.strip()!r}."
    paths = [f"`{page.path}`" for page in pages[:MAX_LISTED]]
    there = f" There is: {', '.join(paths)}." if paths else ""
    return Recalled(text=said + there)
