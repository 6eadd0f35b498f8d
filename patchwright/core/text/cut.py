"""Shorten a text in the middle."""

import unicodedata

_NOTE = "\n\n[... {count} characters cut ...]\n\n"
_LONGEST_CLUSTER = 32
_JOINER = "\u200d"


def truncate_middle(text: str, max_chars: int) -> str:
    """Keep head and tail, and say between them how many characters were cut.

    The result is never longer than `max_chars`; where that leaves no room for the note,
    only the head is kept. A character stays whole, with its accents and joiners.
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
