"""Read texts in which letters are escaped, as JSON, scripts, URLs and HTML do it.

However often it was done: a sign of an escape that is escaped itself is one sign.
"""

import html
import re
from typing import Final, NamedTuple

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
