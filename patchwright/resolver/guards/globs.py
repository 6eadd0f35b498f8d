"""Match paths as a repository writes them down: `.github/**`, `CODEOWNERS`, `*.tf`."""

import re
from collections.abc import Sequence
from functools import lru_cache

# A run of stars is one; with `/` behind it, it may also stand for no folder at all.
_PART = re.compile(r"\*{2,}/|\*+|\?|[^*?]")


def matches(path: str, pattern: str) -> bool:
    """Tell whether a pattern covers a path.

    Without a slash in it, a pattern is about a file or folder of that name anywhere;
    with one it counts from the top. A folder is covered with all that is in it. Letter
    case does not matter: some file systems do not know it either.

    The time is at most that of comparing each part with each letter, however many stars
    there are: a regular expression would try all ways to share the letters among them.
    """
    parts, anywhere = _compiled(pattern)
    path = path.casefold()
    begins = {0, *(at + 1 for at, sign in enumerate(path) if sign == "/")}
    ends = begins if anywhere else {0}
    for part in parts:
        ends = _match_ends(path, ends, part)
        if not ends:
            return False
    return any(end == len(path) or path.startswith("/", end) for end in ends)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> tuple[Sequence[str], bool]:
    trimmed = pattern.strip().strip("/")
    anywhere = "/" not in pattern.strip().rstrip("/")
    # Who puts a link in place of `.github` changes what is in it.
    return _PART.findall(trimmed.removesuffix("/**").casefold()), anywhere


def _match_ends(path: str, starts: set[int], part: str) -> set[int]:
    """Return where a part may end that begins at one of these places."""
    match part:
        case "?":
            return {at + 1 for at in starts if at < len(path) and path[at] != "/"}
        case "*":
            return _reach(path, starts, stop="/")
        case _ if part.endswith("*"):
            return set(range(min(starts), len(path) + 1))
        case _ if part.startswith("*"):
            first = min(starts)
            return starts | {
                at + 1 for at in range(first, len(path)) if path[at] == "/"
            }
        case _:
            return {at + 1 for at in starts if path.startswith(part, at)}


def _reach(path: str, starts: set[int], stop: str) -> set[int]:
    """Return each place from a start to the next sign that stops it."""
    ends: set[int] = set()
    is_inside = False
    for at in range(min(starts), len(path) + 1):
        is_inside = at in starts or (is_inside and path[at - 1] != stop)
        if is_inside:
            ends.add(at)
    return ends
