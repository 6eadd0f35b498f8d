"""Tell fast whether a text holds any of many strings."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

# What code, logs and English are made of, the commonest first; the rest is rarer.
_COMMON: Final = " etaonisrlcdpmuhfgyb_.\"/-:,012vwk=()'3456789xqjz"
_RANK: Final = {character: rank for rank, character in enumerate(_COMMON)}


class StringMatcher:
    """Strings to look for, under the rarest character of each.

    A search for one character is a tenth of one for a string, and most texts lack most
    of the rare ones.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for string in sorted(set(strings)):
            groups[_rarest(string)].append(string)
        self._groups = tuple(
            (character, tuple(group)) for character, group in groups.items()
        )

    def any_in(self, text: str) -> bool:
        # Written out: this runs for every event, and a generator doubles its time.
        for character, group in self._groups:
            if character in text:
                for string in group:
                    if string in text:
                        return True
        return False


def _rarest(string: str) -> str:
    return max(string, key=lambda character: _RANK.get(character, len(_RANK)))
