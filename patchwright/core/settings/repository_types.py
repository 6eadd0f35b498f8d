"""The kinds of texts in `.patchwright.toml`: logins, branches, templates."""

import re
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from patchwright.core.text.fence import inline_code
from patchwright.core.text.refs import is_branch_name
from patchwright.core.text.templates import (
    BODY_VARIABLES,
    UNIQUE,
    VARIABLES,
    names_branches,
    unknown_variable,
)

MAX_NAME_CHARS: Final = 60
_LOGIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?\Z")
_REVIEWER: Final = re.compile(r"(?:team/)?[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
_TELLS_APART: Final = ", ".join(f"`{{{{{name}}}}}`" for name in UNIQUE)


def _one_line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("it must be one line of text")
    return text.strip()


def _word(text: str) -> str:
    if not text.isprintable() or " " in text:
        raise ValueError("not a word")
    return text


def _login(text: str) -> str:
    if not _LOGIN.match(text):
        raise ValueError("not a login")
    return text


def _reviewer(text: str) -> str:
    if not _REVIEWER.match(text):
        raise ValueError("not a login or team")
    return text


def _branch(text: str) -> str:
    if not is_branch_name(text):
        raise ValueError("not the name of a branch")
    return text


def _template(text: str) -> str:
    return _known(text, VARIABLES)


def _body(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return _known(text, BODY_VARIABLES)


def _known(text: str, variables: Sequence[str]) -> str:
    name = unknown_variable(text, variables)
    if name is not None:
        shown = inline_code(f"{{{{{name[:MAX_NAME_CHARS]}}}}}")
        named = " ".join(f"`{{{{{one}}}}}`" for one in variables)
        raise ValueError(f"{shown} stands for nothing; there are {named}")
    return text


def _branch_template(text: str) -> str:
    if not names_branches(text):
        raise ValueError(
            f"a branch needs one of {_TELLS_APART} in it, and besides letters, digits, "
            "`.`, `_`, `-`, `/`, as git allows them"
        )
    return text


def _listed(value: object) -> object:
    """Take a text for a list of one."""
    return [value] if isinstance(value, str) else value


Line = Annotated[str, Field(max_length=200), AfterValidator(_one_line)]
Word = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_word)]
Script = Annotated[str, Field(min_length=1, max_length=8_000)]
Login = Annotated[str, AfterValidator(_login)]
Reviewer = Annotated[str, AfterValidator(_reviewer)]
Template = Annotated[Line, AfterValidator(_template)]
BodyTemplate = Annotated[str, Field(max_length=15_000), AfterValidator(_body)]
BranchTemplate = Annotated[Template, AfterValidator(_branch_template)]
Branch = Annotated[str, AfterValidator(_branch)]
Listed: Final = BeforeValidator(_listed)
