"""Name branches after the thread they answer."""

import re
import unicodedata

_MAX_SLUG = 40
_NAMELESS = "change"
# Letters that no decomposition turns into ASCII.
_SPELLED_OUT = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o"}
    | {"ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ð": "d", "Ð": "d", "þ": "th", "Þ": "th"}
)


def slug(title: str) -> str:
    """Return a title as lower-case ASCII words joined by hyphens, never empty."""
    plain = unicodedata.normalize("NFKD", title.translate(_SPELLED_OUT))
    ascii_only = plain.encode("ascii", "ignore").decode("ascii").lower()
    words = re.findall(r"[a-z0-9]+", ascii_only.replace("'", ""))
    return _join_bounded(words) or _NAMELESS


def branch_name(token: str, title: str, prefix: str = "patchwright/") -> str:
    """Return a name that git accepts and no shell minds: `patchwright/123-fix-core`.

    `token` is of letters, digits and hyphens, and tells the thread from others.
    """
    return f"{prefix}{token}-{slug(title)}"


def flat_name(branch: str) -> str:
    """Return a branch's name without folders, which no other branch's name blocks.

    Git keeps branches as files: `patchwright` and `patchwright/1-fix` exclude each
    other.
    """
    return branch.replace("/", "-")


def _join_bounded(words: list[str]) -> str:
    joined = "-".join(words)
    if len(joined) <= _MAX_SLUG:
        return joined
    whole, _, _ = joined[: _MAX_SLUG + 1].rpartition("-")
    return whole or joined[:_MAX_SLUG]
