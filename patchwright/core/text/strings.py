"""Plain strings: truncated, normalised, without characters that nobody sees."""

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from pydantic import JsonValue


def well_formed(text: str) -> str:
    """Return the text with surrogate pairs joined and lone halves as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def storable(text: str) -> str:
    """Return the text so that every database takes it: PostgreSQL knows no NUL."""
    return well_formed(text).replace("\0", "\ufffd")


def well_formed_tree(value: JsonValue) -> JsonValue:
    """Do the same for every key and text of a JSON value."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [well_formed_tree(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): well_formed_tree(item) for key, item in value.items()}
    return value


# Everything of Unicode category Cf that shows nothing (the Arabic and Kaithi number
# signs do), control characters but tab and line feed, variation selectors, fillers.
INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")

_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_JOINING_SCRIPT = "\u0600-\u109f\u1780-\u18af\ua840-\uabff"  # Arabic to Khmer
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

# Where such a character changes what is seen, it stays. Joiners build one emoji out of
# several and shape letters; a selector picks the form of the character before it; a
# black flag with tags is the flag of a region.
# https://unicode.org/reports/tr51/#def_emoji_zwj_sequence
_MEANINGFUL = re.compile(
    f"(?:(?<=[{_PICTURE}])|(?<=[{_PICTURE}]\ufe0f))\u200d(?=[{_PICTURE}])"
    f"|(?<=[{_JOINING_SCRIPT}])[\u200c\u200d](?=[{_JOINING_SCRIPT}])"
    f"|(?<=[{_PICTURE}])[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)"
    f"|(?<=[{_IDEOGRAPH}])[\U000e0100-\U000e01ef]"
    "|\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f"
)
_EITHER = re.compile(f"({_MEANINGFUL.pattern})|{_INVISIBLE.pattern}")


def strip_invisible(text: str) -> tuple[str, int]:
    """Return the text without invisible characters, and how many there were."""
    if not _INVISIBLE.search(text):
        return text, 0
    cleaned = _EITHER.sub(lambda match: match[1] or "", text)
    return cleaned, len(text) - len(cleaned)


def is_invisible(text: str) -> bool:
    return bool(text) and strip_invisible(text)[0] == ""


_NOTE = "\n\n[... {count} characters cut ...]\n\n"
_LONGEST_CLUSTER = 32
_JOINER = "\u200d"


def truncate_middle(text: str, max_chars: int) -> str:
    """Keep head and tail, and say between them how many characters were cut.

    The result is never longer than `max_chars`; where that leaves no room for the note,
    only the head is kept. A character is not split from its accents and joiners.
    """
    if len(text) <= max_chars:
        return text
    room = max_chars - len(_NOTE.format(count=len(text)))
    if room < 2:  # noqa: PLR2004 - one character on each side
        return text[: _before_cluster(text, max(max_chars, 0))]
    head = _before_cluster(text, room - room // 2)
    tail = _after_cluster(text, len(text) - room // 2)
    return text[:head] + _NOTE.format(count=tail - head) + text[tail:]


def _before_cluster(text: str, at: int) -> int:
    for _ in range(_LONGEST_CLUSTER):
        if not _is_inside_cluster(text, at):
            break
        at -= 1
    return at


def _after_cluster(text: str, at: int) -> int:
    for _ in range(_LONGEST_CLUSTER):
        if not _is_inside_cluster(text, at):
            break
        at += 1
    return at


def _is_inside_cluster(text: str, at: int) -> bool:
    """Tell whether the character at this place is seen as one with that before it."""
    if not 0 < at < len(text):
        return False
    here = text[at]
    return (
        text[at - 1] == _JOINER
        or here == _JOINER
        or "\udc00" <= here <= "\udfff"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
        or unicodedata.category(here).startswith("M")
    )


_MARK: Final = "~"
_VOLATILE: Final = re.compile(
    r"""
      \b\d{4}-\d\d-\d\d(?:[T\ ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?
    | \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
    | 0x[0-9a-fA-F]+
    | \b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|secs?|seconds?|minutes?)\b
    | \b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\b
    | \b\d+m\d+(?:[.,]\d+)?s\b
    | /tmp/[^\s'":,;()\[\]]+
    | \b(?:pid|PID)[\ =:]*\d+
    | (?m:^\[\d+\]\ \d+$)
    """,
    re.VERBOSE,
)


def normalise_text(text: str) -> str:
    """Put a mark for times, durations, process ids, addresses and temporary paths."""
    return _VOLATILE.sub(_MARK, text)


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the name that looks most like this one, however little that is."""
    return get_close_matches(name, list(known), n=1, cutoff=0.0)[0]


_CENT: Final = 0.01


def dollars(amount_usd: float) -> str:
    """Return `$0.41`; what is less than a cent and not nothing is written finer."""
    if 0 < amount_usd < _CENT:
        return f"${amount_usd:.4f}"
    return f"${amount_usd:.2f}"


def count_noun(number: int, noun: str, nouns: str = "") -> str:
    """Return `1 step` or `2 steps`; `nouns` is for a plural that is not so simple."""
    return f"{number} {noun if number == 1 else nouns or f'{noun}s'}"


def rank_names(names: Iterable[str], query: str) -> tuple[str, ...]:
    """Sort the full names that contain the query: one that begins with it comes first.

    It may begin the whole name, or what follows the last slash.
    """
    wanted = query.strip().casefold()
    found = [name for name in names if wanted in name.casefold()]
    return tuple(sorted(found, key=lambda name: (_distance(name, wanted), name)))


def _distance(name: str, wanted: str) -> int:
    whole = name.casefold()
    own = whole.rpartition("/")[2]
    if wanted in (own, whole):
        return 0
    return 1 if own.startswith(wanted) or whole.startswith(wanted) else 2
