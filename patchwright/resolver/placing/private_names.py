"""Find the names of people, channels and tickets in a text."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

_FEWEST_LETTERS: Final = 3
# Of a name of several words each is one too, from that length on.
_FEWEST_OF_PART: Final = 4
# Names that are words as well count only after an @.
_ALSO_WORDS: Final = frozenset(
    {"admin", "art", "bill", "bot", "chase", "dev", "faith", "frank", "grace"}
    | {"grant", "guest", "guy", "hope", "hunter", "jack", "joy", "june", "lane"}
    | {"mark", "max", "may", "miles", "page", "pat", "ray", "rich", "rob", "rose"}
    | {"sky", "sue", "summer", "support", "test", "user", "will"}
)
_EVERYBODY: Final = frozenset({"all", "channel", "everyone", "here", "team"})


def names_pattern(
    names: Collection[str], called: Collection[str], exact: Iterable[str]
) -> re.Pattern[str] | None:
    """Match each name as whole words, whatever its case, and what is `exact` as it is.

    The name of a channel begins with a #, and counts only with it if it is a mere word.
    `called` were addressed with an @: what is not written like a name of somebody
    counts only with it.
    """
    spoken = {one for one in called if one[:1].isupper()}
    sure = {one.lstrip("#@") for one in {*names, *spoken} if _is_only_a_name(one)}
    forms = [
        *_any_of(sure, r"(?<!\w)", r"(?!\w)"),
        *_any_of(
            map(_addressed, {*names, *called} - _EVERYBODY), r"(?<!\w)", r"(?!\w)"
        ),
        *_any_of(exact, r"(?<![^\W_])", r"(?![^\W_])"),
        *_parts(names),
    ]
    return re.compile("|".join(forms), re.IGNORECASE) if forms else None


def _is_only_a_name(name: str) -> bool:
    plain = name.lstrip("@#").casefold()
    if name.startswith("#") and plain.isalpha():
        return False
    return len(plain) >= _FEWEST_LETTERS and plain not in _ALSO_WORDS | _EVERYBODY


def _addressed(name: str) -> str:
    return name if name.startswith(("#", "@")) else f"@{name}"


def _parts(names: Iterable[str]) -> Iterator[str]:
    """Yield what matches a first or last name alone, written as a name."""
    words = (name.split() for name in names)
    parts = {part for several in words if len(several) > 1 for part in several}
    alone = (
        part
        for part in parts
        if len(part) >= _FEWEST_OF_PART
        and part[0].isupper()
        and part.casefold() not in _ALSO_WORDS
    )
    for form in _any_of(alone, r"(?<!\w)", r"(?!\w)"):
        yield f"(?-i:{form})"


def _any_of(names: Iterable[str], before: str, after: str) -> Iterator[str]:
    """Yield one pattern for all of them, the longest first."""
    # Without a letter it would be found in any text, and in what we put there.
    readable = {name for name in names if any(map(str.isalnum, name))}
    inner = [
        r"\s+".join(map(re.escape, name.split()))
        for name in sorted(readable, key=lambda name: (-len(name), name))
    ]
    if inner:
        yield f"{before}(?:{'|'.join(inner)}){after}"
