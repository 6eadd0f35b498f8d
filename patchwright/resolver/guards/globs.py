"""Match paths as a repository writes them down: `.github/**`, `CODEOWNERS`, `*.tf`."""

import re
from functools import lru_cache

_PART = re.compile(r"\*\*/?|\*|\?|[^*?]+")


def matches(path: str, pattern: str) -> bool:
    """Tell whether a pattern covers a path.

    Without a slash in it, a pattern is about a file or folder of that name anywhere;
    with one it counts from the top. A folder is covered with all that is in it. Letter
    case does not matter: some file systems do not know it either.
    """
    return _compiled(pattern).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    trimmed = pattern.strip().strip("/")
    anywhere = "/" not in pattern.strip().rstrip("/")
    # Who puts a link in place of `.github` changes what is in it.
    folder = trimmed.removesuffix("/**")
    body = "".join(_translate(part) for part in _PART.findall(folder))
    start = "(?:.*/)?" if anywhere else ""
    return re.compile(f"{start}{body}(?:/.*)?", re.IGNORECASE | re.DOTALL)


def _translate(part: str) -> str:
    match part:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _:
            return re.escape(part)
