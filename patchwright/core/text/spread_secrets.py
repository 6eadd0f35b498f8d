"""Find secrets that stand in a text with something between their characters."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from patchwright.core.text.invisible import INVISIBLE
from patchwright.core.text.needles import Needles
from patchwright.core.text.token_formats import token_spans

# Nobody sees these between letters; between digits `base64` and `xxd` put blanks too.
_UNSEEN: Final = re.compile(rf"\x1b\[[0-9;?]*[ -/]*[@-~]|[{INVISIBLE}]")
_GAP: Final = re.compile(rf"{_UNSEEN.pattern}|[\s:]")


class SpreadSecrets:
    """Knows secrets by value, and digits that stand for them.

    Between digits there may also be blanks and line ends; between the letters of words
    these mean something.
    """

    def __init__(self, forms: Iterable[str], digits: Iterable[str]) -> None:
        self._digits = sorted(digits, key=lambda form: (-len(form), form))
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._digits_in = Needles(self._digits)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield from where to where they go, with what is between."""
        has_unseen = _has_unseen(text)
        if has_unseen or self._digits_in.any_in(_joined(text)):
            joined, places = _without(_GAP, text)
            yield from _mapped(_find(self._digits, joined), places)
        if has_unseen:
            joined, places = _without(_UNSEEN, text)
            yield from _mapped(_find(self._forms, joined), places)
            yield from _mapped(token_spans(joined), places)

    def may_be_in_json(self, text: str) -> bool:
        """Tell, erring on the safe side, whether a string of a JSON text has one."""
        if "\\u00" in text or _has_unseen(text):
            return True
        for escaped in ("\\n", "\\r", "\\t"):
            text = text.replace(escaped, "")
        return self._digits_in.any_in(_joined(text))


def _has_unseen(text: str) -> bool:
    return not (text.isascii() and text.isprintable()) and bool(_UNSEEN.search(text))


def _joined(text: str) -> str:
    return "".join(text.split()).replace(":", "")


def _without(gap: re.Pattern[str], text: str) -> tuple[str, list[int]]:
    """Return the text without its gaps, and where each of its characters was."""
    places: list[int] = []
    done = 0
    for found in gap.finditer(text):
        places += range(done, found.start())
        done = found.end()
    places += range(done, len(text))
    return "".join(map(text.__getitem__, places)), places


def _find(forms: list[str], text: str) -> Iterator[tuple[int, int]]:
    for form in forms:
        at = text.find(form)
        while at >= 0:
            yield at, at + len(form)
            at = text.find(form, at + len(form))


def _mapped(
    spans: Iterator[tuple[int, int]], places: list[int]
) -> Iterator[tuple[int, int]]:
    for begin, end in spans:
        yield places[begin], places[end - 1] + 1
