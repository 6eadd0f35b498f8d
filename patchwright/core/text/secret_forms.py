"""Know the shapes in which a secret can turn up in a text."""

import base64
import html
import json
import re
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote, quote_plus

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
