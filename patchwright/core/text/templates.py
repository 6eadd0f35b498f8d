"""Fill in the templates of a repository: names of branches, titles, texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from patchwright.core.text.names import branch_name, slug
from patchwright.core.text.refs import branch_part, is_branch_name

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
