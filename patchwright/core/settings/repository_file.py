"""Read `.patchwright.toml`; mistakes are reported, and the rest applies."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import ErrorDetails

from patchwright.core.settings.names import FORMER_NAMES, UNTIL, Place
from patchwright.core.settings.repository import (
    CONFIG_FILE,
    ContextFrom,
    DeliveryMode,
    FollowUpTrigger,
    RepositoryConfig,
)
from patchwright.core.text.branch_names import (
    BODY_VARIABLES,
    UNIQUE,
    VARIABLES,
    is_branch_name,
    names_branches,
    unknown_variable,
)
from patchwright.core.text.escape import inline_code
from patchwright.core.text.strings import nearest_name
from patchwright.core.types.people import Permission

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
        raise ValueError(f"{shown} is unknown; use {named}")
    return text


def _branch_template(text: str) -> str:
    if not names_branches(text):
        raise ValueError(
            f"a branch needs one of {_TELLS_APART}; other characters may be letters, "
            "digits, `.`, `_`, `-`, `/`, as git allows them"
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


MAX_BYTES: Final = 64 * 1024
_FORMER: Final = FORMER_NAMES[Place.REPOSITORY]
_MAX_PROBLEMS: Final = 10
_TEMPLATES: Final = ("body", "branch", "title")
_TRIGGER_NAME = Literal[
    "mention", "label", "assignment", "review", "checks", "conflict"
]


_ASKED_FOR: Final = (
    FollowUpTrigger.MENTION,
    FollowUpTrigger.LABEL,
    FollowUpTrigger.ASSIGNMENT,
)


class _Hint(NamedTuple):
    """The value that applies until a limit can be read, and the text about it."""

    key: str
    value: object
    told: str


# It may have been meant as strictly as can be, so that its default will not do.
_CARE: Final[Mapping[str, _Hint]] = {
    "context_from": _Hint("context_from", "write", "comments of others are not read"),
    "evidence": _Hint("evidence", "required", "proof is required"),
    "min_permission": _Hint("min_permission", Permission.ADMIN, "only admins may ask"),
    "network": _Hint("network", "deny", "the network is closed"),
    "on_setup_failure": _Hint(
        "on_setup_failure", "stop", "a failed set-up ends the run"
    ),
    "plan_approval": _Hint(
        "plan_approval", "comment", "each plan waits for an approval"
    ),
    "deliver": _Hint("deliver", DeliveryMode.DRAFT, "changes stay drafts"),
    "protected_paths": _Hint("deliver", DeliveryMode.DRAFT, "changes stay drafts"),
    "triggers": _Hint("triggers", _ASKED_FOR, "no run starts without a request"),
}


class _RepositoryFile(BaseModel):
    """The keys as they are written; each description completes "it must be ..."."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    model: Word = Field("", description="the name of a model")
    image: Word = Field("", description="the name of an image")
    setup: Annotated[list[Script], Field(max_length=50), Listed] = Field(
        [], description="a command or a list of commands"
    )
    test: Annotated[list[Script], Field(max_length=50), Listed] = Field(
        [], description="a command or a list of commands"
    )
    base: Branch = Field("", description="the name of a branch")
    branch: BranchTemplate = Field("", description="a template for names of branches")
    title: Template = Field("", description="a template of one line")
    body: BodyTemplate = Field("", description="a template")
    deliver: Literal["draft", "ready", "branch", "patch", "none"] = Field(
        "draft", description="`draft`, `ready`, `branch`, `patch` or `none`"
    )
    reviewers: Annotated[list[Reviewer], Field(max_length=15), Listed] = Field(
        [], description="a list of logins without the @, or `team/NAME` for a team"
    )
    labels: Annotated[list[Line], Field(max_length=50), Listed] = Field(
        [], description="a list of labels"
    )
    assign_requester: bool = Field(default=True, description="`true` or `false`")
    protected_paths: Annotated[list[Line], Field(max_length=200), Listed] = Field(
        [], description="a list of paths, in which `*` matches a name"
    )
    allow_users: Annotated[list[Login], Field(max_length=500), Listed] = Field(
        [], description="a list of logins without the @; `*` is not allowed"
    )
    allow_bots: Annotated[list[Login], Field(max_length=500), Listed] = Field(
        [], description="a list of names of bots; `*` is not allowed"
    )
    min_permission: Literal["triage", "write", "maintain", "admin"] = Field(
        "write",
        description="`triage`, `write`, `maintain` or `admin`; with less, every "
        "stranger could start runs",
    )
    max_cost_usd: float = Field(0.0, gt=0, description="a number above 0")
    max_iterations: int = Field(0, gt=0, description="a whole number above 0")
    timeout_minutes: float = Field(0.0, gt=0, description="a number above 0")
    triggers: Annotated[list[_TRIGGER_NAME], Field(max_length=50), Listed] = Field(
        [],
        description="a list of `mention`, `label`, `assignment`, `review`, `checks`, "
        "`conflict`",
    )
    network: Literal["deny", "allowlist", "allow"] = Field(
        "deny", description="`deny`, `allowlist` or `allow`"
    )
    allow_domains: Annotated[list[Word], Field(max_length=200), Listed] = Field(
        [], description="a list of hosts"
    )
    ci_rounds: int = Field(2, ge=0, le=10, description="a whole number from 0 to 10")
    plan_approval: Literal["none", "comment"] = Field(
        "none", description="`none` or `comment`"
    )
    evidence: Literal["required", "best-effort", "off"] = Field(
        "required", description="`required`, `best-effort` or `off`"
    )
    on_setup_failure: Literal["stop", "continue"] = Field(
        "stop", description="`stop` or `continue`"
    )
    context_from: ContextFrom = Field(
        "write", description="`write`, `association` or `all-marked`"
    )
    instructions: Annotated[list[Line], Field(max_length=50), Listed] = Field(
        [], description="a list of paths"
    )
    co_author: Literal["requester", "none"] = Field(
        "requester", description="`requester` or `none`"
    )
    progress_comment: bool = Field(default=True, description="`true` or `false`")


def known_keys() -> frozenset[str]:
    return frozenset(_RepositoryFile.model_fields)


def read_repository_config(
    data: bytes | None, path: str = CONFIG_FILE
) -> RepositoryConfig:
    """Return what the file at that path says; None is no file, and says nothing."""
    if data is None:
        return RepositoryConfig(file=path)
    if len(data) > MAX_BYTES:
        return _unread(path, f"is larger than {MAX_BYTES // 1024} KiB")
    try:
        # Deep nesting ends in the second one.
        table = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return _unread(path, "is not UTF-8")
    except (tomllib.TOMLDecodeError, ValueError) as error:
        return _unread(path, f"is not TOML: {inline_code(str(error)[:200])}")
    except RecursionError:
        return _unread(path, "is nested too deeply")
    return _read(table, path)


def _read(table: dict[str, Any], path: str) -> RepositoryConfig:
    table, notes, twice = _by_new_names(table)
    errors = _errors(table)
    wrong = {str(error["loc"][0]) for error in errors} | twice
    rest = {key: value for key, value in table.items() if key not in wrong}
    read = _RepositoryFile.model_validate(rest).model_dump(exclude_unset=True)
    # One sentence for each key, however many faults it has.
    first = {str(error["loc"][0]): error for error in reversed(errors)}
    told = [_describe(key, first[key]) for key in table if key in first]
    for care in (_CARE[key] for key in sorted(wrong) if key in _CARE):
        # One that is stricter than a draft stays.
        if read.get(care.key) in (None, DeliveryMode.READY):
            read[care.key] = care.value
    problems = [f"{inline_code(path)}{one}" for one in (*notes, *_bounded(told))]
    return RepositoryConfig.model_validate(read | {"file": path, "problems": problems})


def _by_new_names(
    table: dict[str, Any],
) -> tuple[dict[str, Any], list[str], frozenset[str]]:
    """Return it by the keys of today, what to say of others, and keys set twice."""
    former = {old: key for old, key in _FORMER.items() if old in table}
    renamed = {former.get(key, key): value for key, value in table.items()}
    twice = frozenset(key for key in former.values() if key in table)
    notes = [
        f" sets both `{key}` and its former name `{old}`: remove `{old}`. Until then "
        f"{_CARE[key].told}."
        if key in twice
        else f": `{old}` is now `{key}`; {UNTIL}."
        for old, key in former.items()
    ]
    return renamed, notes, twice


def _errors(table: dict[str, Any]) -> list[ErrorDetails]:
    try:
        _RepositoryFile.model_validate(table)
    except ValidationError as error:
        return error.errors(include_url=False, include_input=False)
    return []


def _describe(key: str, error: ErrorDetails) -> str:
    """Say what is wrong with a key, after the name of the file."""
    shown = inline_code(key[:MAX_NAME_CHARS])
    if error["type"] == "extra_forbidden":
        close = nearest_name(key[:MAX_NAME_CHARS], sorted(known_keys()))
        return f" has an unknown key, {shown}; the nearest known one is `{close}`."
    reason = error.get("ctx", {}).get("error")
    if key in _TEMPLATES and isinstance(reason, ValueError):
        return f": {shown} was ignored: {reason}."
    meaning = _RepositoryFile.model_fields[key].description
    until_then = f" Until then {_CARE[key].told}." if key in _CARE else ""
    return f": {shown} was ignored: it must be {meaning}.{until_then}"


def _bounded(problems: list[str]) -> list[str]:
    more = len(problems) - _MAX_PROBLEMS
    if more <= 0:
        return problems
    return [*problems[:_MAX_PROBLEMS], f" has {more} more such problems."]


def _unread(path: str, why: str) -> RepositoryConfig:
    problem = (
        f"{inline_code(path)} {why}; the whole file is ignored, and a change stays a "
        "draft."
    )
    return RepositoryConfig(
        deliver=DeliveryMode.DRAFT,
        triggers=_ASKED_FOR,
        context_from="write",
        file=path,
        problems=(problem,),
    )
