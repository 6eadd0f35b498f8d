"""Branch names, and the templates of a repository for branches and texts."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

# Git keeps a branch as a file, and most file systems end a name at 255 bytes.
MAX_BRANCH_CHARS: Final = 200
# What git refuses, and what a shell or a link minds.
# https://git-scm.com/docs/git-check-ref-format
_CHARACTERS: Final = re.compile(r"[A-Za-z0-9._/+=@,-]+\Z")
_FORBIDDEN: Final = ("..", "//", "@{")


def is_branch_name(name: str) -> bool:
    """Tell whether git takes it for a branch, and it is plain, bounded ASCII."""
    if len(name) > MAX_BRANCH_CHARS or not _CHARACTERS.match(name):
        return False
    if name in ("@", "HEAD") or name.startswith(("-", "refs/")):
        return False
    if any(piece in name for piece in _FORBIDDEN):
        return False
    return all(map(_is_part, name.split("/")))


def branch_part(text: str, instead: str) -> str:
    """Return a text as a part of a branch's name, keeping its case; never empty."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")
    return plain[:60].rstrip("-") or instead


def _is_part(part: str) -> bool:
    return bool(part) and not part.startswith(".") and not part.endswith((".", ".lock"))


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


VARIABLES: Final = ("number", "slug", "key", "label", "date", "sha", "title", "run")
# In the text of a pull request there is more to say.
BODY_VARIABLES: Final = (
    *VARIABLES,
    "summary",
    "evidence",
    "closes",
    "changes",
    "requester",
)
# Without one of these two requests could get the same branch.
UNIQUE: Final = ("number", "key", "run")
_VARIABLE: Final = re.compile(r"\{\{([^{}]*)\}\}")
_EMPTY: Final = dict.fromkeys(VARIABLES, "")
_USUAL: Final = {
    "number": "12345",
    "slug": "fix-the-sum",
    "key": "SHOP-123",
    "label": "bug",
    "date": "2026-01-31",
    "sha": "0123456789",
    "title": "Fix the sum",
    "run": "01234567",
}


def variables_of(template: str) -> tuple[str, ...]:
    return tuple(map(str.strip, _VARIABLE.findall(template)))


def render_template(template: str, values: Mapping[str, str]) -> str:
    """Put the values in; a variable that has none becomes nothing."""
    return _VARIABLE.sub(lambda found: values.get(found[1].strip(), ""), template)


def render_branch(template: str, values: Mapping[str, str]) -> str:
    """Return the name of a branch, in which each value is made fit for one."""
    return render_template(template, {key: _fit(key, values) for key in VARIABLES})


def name_branch(template: str, values: Mapping[str, str], default_branch: str) -> str:
    """Return the branch of a request; what the template cannot give is our own name.

    `values` have at least `number` and `title`.
    """
    named = render_branch(template, values) if template else ""
    is_free = named.casefold() != default_branch.casefold()
    if is_free and is_branch_name(named):
        return named
    return branch_name(values["number"], values["title"])


def unknown_variable(template: str, variables: Sequence[str] = VARIABLES) -> str | None:
    """Return the first name in braces that stands for nothing."""
    found = variables_of(template)
    return next((name for name in found if name not in variables), None)


def names_branches(template: str) -> bool:
    """Tell whether a template gives each request a branch that git takes."""
    if not set(variables_of(template)) & set(UNIQUE):
        return False
    rendered = (render_branch(template, values) for values in (_USUAL, _EMPTY))
    return all(map(is_branch_name, rendered))


def _fit(key: str, values: Mapping[str, str]) -> str:
    value = values.get(key, "")
    if key in ("slug", "title"):
        return slug(value)
    return branch_part(value, "none")
