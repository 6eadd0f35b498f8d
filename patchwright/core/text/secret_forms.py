"""The shapes in which a secret can turn up in a text: encoded, escaped, spread out."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus

from patchwright.core.text.strings import INVISIBLE
from patchwright.core.text.token_formats import StringMatcher, token_spans

# Whatever is looked for has one of these, and a search for each is fast.
_SIGNS: Final = ("%", "&", "\\u", "\\x", "\\/", "\\0", "\\1")
# Nothing here is read twice, whatever the text: each begins at a sign of its own (the
# first of a row of them), and no repetition gives back what it took.
_ESCAPE: Final = re.compile(
    r"\\(?<!\\\\)\\*+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([01][0-7]{2})|(/)|)"
    r"|%(?:(?:25)*+(?P<byte>[0-9a-fA-F]{2})|(?:25)++)"
    r"|&(?:(?:amp;)*+(?P<entity>#[0-9]{1,7};|#[xX][0-9a-fA-F]{1,6};"
    r"|(?:lt|gt|quot|apos);)|(?:amp;)++)"
)
# One kind in another in a third.
_MAX_ROUNDS: Final = 3


class Decoded(NamedTuple):
    """A text without its escapes, and where each of its characters began and ended."""

    text: str
    begins: list[int]
    ends: list[int]


def may_be_escaped(text: str) -> bool:
    return any(sign in text for sign in _SIGNS)


def decode_text(text: str) -> str:
    for _ in range(_MAX_ROUNDS):
        before, text = text, _ESCAPE.sub(_meaning, text)
        if text == before:
            break
    return text


def decode(text: str) -> Decoded:
    """Do the same, and keep where everything was."""
    decoded = Decoded(text, list(range(len(text))), list(range(1, len(text) + 1)))
    for _ in range(_MAX_ROUNDS):
        before, decoded = decoded, _decode_once(decoded)
        if decoded.text == before.text:
            break
    return decoded


def _decode_once(old: Decoded) -> Decoded:
    parts: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    done = 0
    for found in _ESCAPE.finditer(old.text):
        start, end = found.span()
        parts += [old.text[done:start], _meaning(found)]
        begins += [*old.begins[done:start], old.begins[start]]
        ends += [*old.ends[done:start], old.ends[end - 1]]
        done = end
    parts.append(old.text[done:])
    return Decoded("".join(parts), begins + old.begins[done:], ends + old.ends[done:])


def _meaning(found: re.Match[str]) -> str:
    """Return the one character that an escape stands for."""
    unit, byte, octal, slash = found.group(1, 2, 3, 4)
    if digits := unit or byte or found["byte"]:
        return chr(int(digits, 16))
    if octal:
        return chr(int(octal, 8))
    if entity := found["entity"]:
        # Of a number that is no character it makes something else, or nothing.
        return html.unescape(f"&{entity}")[:1] or " "
    return slash or found[0][0]


SHORTEST_SECRET = 6
_LONGEST_OFFSET = 3
_BITS_PER_DIGIT = 6
_SHORTEST_LINE = 16


def forms_of_secret(secret: str) -> frozenset[str]:
    """Return the secret as it is and as texts carry it, all at least six characters.

    A shorter secret has no form: to blot it out would destroy texts and hide nothing.
    """
    forms = {form for value in secret_lines(secret) for form in _encodings(value)}
    return frozenset(form for form in forms if len(form) >= SHORTEST_SECRET)


def digits_of_secret(secret: str) -> frozenset[str]:
    """Return the digits, of base 16 and 64, that stand for the secret."""
    raw = [value.encode("utf-8", "surrogatepass") for value in secret_lines(secret)]
    hexes = {form for one in raw for form in (one.hex(), one.hex().upper())}
    hexes |= {_swapped(one[start:]) for one in raw for start in (0, 1)}
    digits = hexes.union(*map(_base64_forms, raw))
    return frozenset(one for one in digits if len(one) >= SHORTEST_SECRET)


def secret_lines(secret: str) -> Iterator[str]:
    """Yield what must not be read: the secret, and each line of a longer one."""
    trimmed = secret.strip()
    if len(trimmed) < SHORTEST_SECRET:
        return
    yield trimmed
    # A key of several lines also leaks line by line, in a log with prefixes.
    lines = trimmed.splitlines()
    if len(lines) > 1:
        longer = (line.strip() for line in lines if "-----" not in line)
        yield from (line for line in longer if len(line) >= _SHORTEST_LINE)


def _swapped(raw: bytes) -> str:
    """Return the digits of words of two bytes, the lower one first: `hexdump`."""
    words = (raw[at : at + 2] for at in range(0, len(raw) - 1, 2))
    return "".join(word[::-1].hex() for word in words)


def _encodings(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "surrogatepass")
    yield value
    yield raw.hex()
    yield raw.hex().upper()
    yield from _base64_forms(raw)
    yield from _url_forms(raw)
    escaped = json.dumps(value)[1:-1]
    yield from (escaped, json.dumps(escaped)[1:-1])
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield html.escape(value)
    yield from _script_forms(value)


def _script_forms(value: str) -> Iterator[str]:
    """Yield how other writers of JSON, and scripts, escape what ours does not."""
    yield json.dumps(value)[1:-1].replace("/", "\\/")
    yield json.dumps(value, ensure_ascii=False)[1:-1].replace("/", "\\/")
    for code in ("\\u{:04x}", "\\u{:04X}"):
        yield "".join(one if one.isalnum() else code.format(ord(one)) for one in value)
        yield re.sub("[&+<>'=]", partial(_escaped, code), value)
    yield "".join(f"\\x{byte:02x}" for byte in value.encode("utf-8", "surrogatepass"))


def _escaped(code: str, sign: re.Match[str]) -> str:
    return code.format(ord(sign[0]))


def _base64_forms(raw: bytes) -> Iterator[str]:
    """Yield the digits that stand for these bytes alone, wherever they stand.

    Three bytes make four digits, so the value can begin at three places of a group.
    """
    for offset in range(_LONGEST_OFFSET):
        first = -(-offset * 8 // _BITS_PER_DIGIT)
        last = (offset + len(raw)) * 8 // _BITS_PER_DIGIT
        digits = base64.b64encode(bytes(offset) + raw).decode()[first:last]
        yield digits
        yield digits.translate(str.maketrans("+/", "-_"))


def _url_forms(raw: bytes) -> Iterator[str]:
    for form in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield form
        yield _lower_escapes(form)
        # Who quotes twice leaves the sign of the first time quoted.
        yield form.replace("%", "%25")
        yield _lower_escapes(form).replace("%", "%25")


def _lower_escapes(quoted: str) -> str:
    head, *rest = quoted.split("%")
    return "%".join([head, *(part[:2].lower() + part[2:] for part in rest)])


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
