"""Find secrets that stand in a text with something between or in their characters."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from patchwright.core.text.escapes import Decoded, decode, decode_text, may_be_escaped
from patchwright.core.text.invisible import INVISIBLE
from patchwright.core.text.needles import StringMatcher
from patchwright.core.text.secret_forms import SHORTEST_SECRET
from patchwright.core.text.token_formats import token_spans

# Nobody sees these between letters; between digits `base64` and `xxd` put blanks too.
_UNSEEN: Final = re.compile(rf"\x1b\[[0-9;?]*[ -/]*[@-~]|[{INVISIBLE}]")
_GAP: Final = re.compile(rf"{_UNSEEN.pattern}|[\s:]")
# What a dump has between the digits of two lines: letters, and where a line begins.
# The letters are behind two blanks or more, as others are in the middle of a line.
_LETTERS: Final = r"(?<=[0-9A-Fa-f])[ ]{2,60}(?:\|[^\n]{0,64}\||[^\n]{1,32})"
_DUMP: Final = re.compile(r"\n[ ]{0,8}0[0-9A-Fa-f]{5,15}:?[ ]{1,2}")
_DUMP_GAP: Final = re.compile(rf"(?:{_LETTERS})?{_DUMP.pattern}|{_GAP.pattern}")
_NEXT_BEGUN: Final = re.compile(r"\n[ ]{0,8}[0-9A-Fa-f]{0,16}:?[ ]{0,2}\Z")
_NEXT_LINE: Final = "\n00000000: "
_USUAL_ESCAPES: Final = ("\\n", '\\"', "\\t", "\\r")
# A line of a dump has about two characters for each digit, and colours may be there.
_CHARS_A_DIGIT: Final = 6


class SpreadSecrets:
    """Knows secrets by value, by their forms, and by the digits that stand for them.

    Between digits there may also be blanks and line ends, as of a dump; between the
    letters of words these mean something. Of a value each letter may be escaped.
    """

    def __init__(
        self, values: Iterable[str], forms: Iterable[str], digits: Iterable[str]
    ) -> None:
        self._digits = sorted(digits, key=lambda form: (-len(form), form))
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._digits_in = StringMatcher(self._digits)
        self._decoded = sorted(set(_decoded(values)), key=lambda one: (-len(one), one))
        self._decoded_in = StringMatcher(self._decoded)
        self._longest_digits = max(map(len, self._digits), default=0)

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
        if "\n" in text and bool(_DUMP.search(text)):
            yield from self._find_in_dump(text)
        if self._is_escaped_in(text):
            decoded = decode(text)
            yield from _placed(_find(self._decoded, decoded.text), decoded)

    def may_be_in_json(self, text: str) -> bool:
        """Tell, erring on the safe side, whether a string of a JSON text has one."""
        if _has_unseen(text) or "\\n0" in text:
            return True
        lean = text
        for escaped in _USUAL_ESCAPES:
            lean = lean.replace(escaped, "")
        # Of more than these, or of other kinds of escapes, most texts have none.
        has_escapes = "\\" in lean or "%" in text or "&" in text
        if has_escapes and ("\\u00" in text or self._is_escaped_in(text)):
            return True
        return self._digits_in.any_in(_joined(lean))

    def begin_unfinished(self, text: str) -> int:
        """Return where digits may begin that the text ends in the middle of."""
        since = max(0, len(text) - _CHARS_A_DIGIT * self._longest_digits)
        tail = text[since:]
        # As if the next line of a dump had begun, which may be there in part.
        dump = f"{_NEXT_BEGUN.sub('', tail)}{_NEXT_LINE}"
        begins = [self._begin_in(tail, _GAP), self._begin_in(dump, _DUMP_GAP)]
        # The letters of its last line come to their end with it.
        found = self._find_in_dump(tail)
        begins += [begin for begin, end in found if end == len(tail)]
        return since + min(len(tail), *begins)

    def _begin_in(self, text: str, gap: re.Pattern[str]) -> int:
        joined, places = _without(gap, text)
        starts = (begin_of(form, joined) for form in self._digits)
        first = min(starts, default=len(joined))
        return places[first] if first < len(joined) else len(text)

    def _find_in_dump(self, text: str) -> Iterator[tuple[int, int]]:
        joined, places = _without(_DUMP_GAP, text)
        for begin, end in _mapped(_find(self._digits, joined), places):
            # The letters stand behind the digits of the last line, too.
            line_end = text.find("\n", end)
            yield begin, line_end if line_end >= 0 else len(text)

    def _is_escaped_in(self, text: str) -> bool:
        return may_be_escaped(text) and self._decoded_in.any_in(decode_text(text))


def begin_of(form: str, text: str) -> int:
    """Return from where on the text is the beginning of the form, and no more."""
    head = form[:SHORTEST_SECRET]
    at = text.find(head, max(0, len(text) - len(form) + 1))
    while at >= 0:
        if form.startswith(text[at:]):
            return at
        at = text.find(head, at + 1)
    few = range(min(len(head) - 1, len(text)), 0, -1)
    return len(text) - next((n for n in few if text.endswith(head[:n])), 0)


def _decoded(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        raw = value.encode("utf-8", "surrogatepass").decode("latin-1")
        for one in (decode_text(value), decode_text(raw)):
            if len(one) >= SHORTEST_SECRET:
                yield one


def _placed(
    spans: Iterator[tuple[int, int]], decoded: Decoded
) -> Iterator[tuple[int, int]]:
    for begin, end in spans:
        yield decoded.begins[begin], decoded.ends[end - 1]


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
