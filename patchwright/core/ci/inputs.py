"""The inputs of a job in a CI: what each may be, what was given, and texts in files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Final

from patchwright.core.settings.repository import GENERAL_INSTRUCTIONS, PROTECTED_PATHS
from patchwright.core.types.errors import SettingsError

# Says what is wrong with a value, and what is allowed; nothing where it is right.
Check = Callable[[str], str]
YES_NO: Final = ("true", "false")
_PERMISSIONS: Final = ("read", "triage", "write", "maintain", "admin")
_EFFORTS: Final = ("", "none", "minimal", "low", "medium", "high")


@dataclass(frozen=True)
class Input:
    """One input; its default is empty where that depends on the run."""

    default: str = ""
    check: Check = lambda _: ""
    is_secret: bool = False


def one_of(*allowed: str) -> Check:
    shown = ", ".join(f"`{one}`" for one in allowed if one)

    def check(value: str) -> str:
        return "" if value in allowed else f"must be one of {shown}"

    return check


def _number(*, least: float, whole: bool = False, optional: bool = False) -> Check:
    kind = "a whole number" if whole else "a number"

    def check(value: str) -> str:
        if not value and optional:
            return ""
        is_right = _is_number(value, whole=whole) and float(value) >= least
        return "" if is_right else f"must be {kind} of at least {least:g}"

    return check


def _is_number(value: str, *, whole: bool) -> bool:
    if whole:
        return value.isascii() and value.isdigit()
    try:
        return isfinite(float(value))
    except ValueError:
        return False


def is_required(value: str) -> str:
    return "" if value else "must be set"


REFERENCE: Final = _number(least=1, whole=True, optional=True)
# Those of every CI; each has some of its own.
COMMON_INPUTS: Final[Mapping[str, Input]] = {
    "issue-number": Input(check=REFERENCE),
    "task": Input(),
    "task-file": Input(),
    "mode": Input(
        "auto", one_of("auto", "fix", "answer", "plan", "review-feedback", "ci-fix")
    ),
    "mention": Input("@patchwright", is_required),
    "label": Input("patchwright", is_required),
    "llm-model": Input(),
    "llm-fallback-models": Input(),
    "llm-base-url": Input(),
    "llm-api-version": Input(),
    "reasoning-effort": Input("", one_of(*_EFFORTS)),
    "max-cost-usd": Input("3.00", _number(least=0)),
    "max-iterations": Input("50", _number(least=1, whole=True)),
    "timeout-minutes": Input("30", _number(least=0.1)),
    "unknown-price": Input("cap-tokens", one_of("cap-tokens", "refuse")),
    "min-permission": Input("write", one_of(*_PERMISSIONS)),
    "allow-users": Input(),
    "allow-bots": Input(),
    "context-from": Input("write", one_of("write", "association", "all-marked")),
    "image": Input(),
    "setup": Input(),
    "on-setup-failure": Input("stop", one_of("stop", "continue")),
    "network": Input("deny", one_of("deny", "allowlist")),
    "allow-domains": Input(),
    "config-path": Input(".patchwright.toml", is_required),
    "instructions": Input(",".join(GENERAL_INSTRUCTIONS)),
    "mcp-config": Input(),
    "test": Input(),
    "prove-only": Input("false", one_of(*YES_NO)),
    "evidence": Input("required", one_of("required", "best-effort", "off")),
    "plan-approval": Input("none", one_of("none", "comment")),
    "deliver": Input("draft", one_of("draft", "ready", "branch", "patch", "none")),
    "base": Input(),
    "branch": Input("patchwright/{{number}}-{{slug}}", is_required),
    "title": Input(),
    "body": Input(),
    "reviewers": Input(),
    "labels": Input(),
    "assign-requester": Input("true", one_of(*YES_NO)),
    "co-author": Input("requester", one_of("requester", "none")),
    "protected-paths": Input(",".join(PROTECTED_PATHS)),
    "progress-comment": Input("true", one_of(*YES_NO)),
    "dry-run": Input("false", one_of(*YES_NO)),
    "output-schema": Input(),
    "output-schema-file": Input(),
    "fail-on": Input("error", one_of("error", "unresolved", "unproven", "never")),
}
# Of each pair only one can be meant.
_EXCLUSIVE_PAIRS: Final = (
    ("task", "task-file"),
    ("task", "issue-number"),
    ("task-file", "issue-number"),
    ("output-schema", "output-schema-file"),
)


@dataclass(frozen=True)
class Inputs:
    """What was given; every value has passed its check.

    `table` is what there is to give: what it does not have is not said. `notices` are
    sentences about former names.
    """

    values: Mapping[str, str]
    table: Mapping[str, Input]
    notices: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        return self.values.get(name, self._default(name)).strip()

    def is_chosen(self, name: str) -> bool:
        """Tell whether it says anything else than it does by itself."""
        return self.text(name) not in ("", self._default(name))

    def _default(self, name: str) -> str:
        return self.table[name].default if name in self.table else ""

    def listed(self, name: str) -> tuple[str, ...]:
        """Return the parts of a list, between commas or on lines of their own."""
        parts = self.text(name).replace("\n", ",").split(",")
        return tuple(part.strip() for part in parts if part.strip())

    def lines(self, name: str) -> tuple[str, ...]:
        found = (line.strip() for line in self.text(name).splitlines())
        return tuple(line for line in found if line)

    def is_true(self, name: str) -> bool:
        return self.text(name) == "true"

    @property
    def secrets(self) -> dict[str, str]:
        """Return what is a secret, by the names of the inputs."""
        return {
            name: self.text(name) for name, one in self.table.items() if one.is_secret
        }


def checked(inputs: Inputs, problems: Sequence[str] = ()) -> Inputs:
    """Return inputs that may be used; raises `SettingsError` with all that is wrong."""
    wrong = [*problems, *_invalid_inputs(inputs), *_contradictions(inputs)]
    if wrong:
        raise SettingsError("\n".join(wrong))
    return inputs


def find_both_given(inputs: Inputs, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return what to say of pairs of which only one can be meant."""
    return [
        f"inputs `{one}` and `{other}` cannot be set together; keep one of them"
        for one, other in pairs
        if inputs.text(one) and inputs.text(other)
    ]


def wrong_input(name: str, message: str) -> SettingsError:
    return SettingsError(f"input `{name}`: {message}")


def _invalid_inputs(inputs: Inputs) -> list[str]:
    problems = (
        (name, one.check(inputs.text(name))) for name, one in inputs.table.items()
    )
    return [f"input `{name}` {problem}" for name, problem in problems if problem]


def _contradictions(inputs: Inputs) -> list[str]:
    both = find_both_given(inputs, _EXCLUSIVE_PAIRS)
    if not inputs.text("llm-model") and not inputs.is_true("prove-only"):
        both.append("input `llm-model` must be set")
    has_hosts = bool(inputs.text("allow-domains"))
    if has_hosts != (inputs.text("network") == "allowlist"):
        both.append(
            "inputs `network: allowlist` and `allow-domains` belong together; set both "
            "or none of them"
        )
    return both


MAX_BYTES: Final = 200_000


def read_text(inputs: Inputs, name: str, workspace: Path) -> str:
    """Return the input, or what is in the file that `NAME-file` names.

    Raises `SettingsError` for a file that is not in the workspace, or is no such text.
    """
    file_input = file_input_of(name)
    named = inputs.text(file_input)
    return _read_file(file_input, workspace, named) if named else inputs.text(name)


def file_input_of(name: str) -> str:
    return f"{name}-file"


def _read_file(name: str, workspace: Path, named: str) -> str:
    data = _read_bytes(name, workspace, named)
    if len(data) > MAX_BYTES:
        raise wrong_input(name, f"{named} is larger than {MAX_BYTES // 1000} kB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise wrong_input(name, f"{named} is not UTF-8") from error
    if not text.strip():
        raise wrong_input(name, f"{named} is empty")
    return text


def _read_bytes(name: str, workspace: Path, named: str) -> bytes:
    """Return the file's bytes, of one that is too large one byte too many."""
    root = workspace.resolve()
    path = (root / named).resolve()
    # A link may lead out, or to where a checkout keeps its token.
    if not path.is_relative_to(root) or ".git" in path.relative_to(root).parts:
        raise wrong_input(name, f"{named} is not a file in the workspace")
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"{named} cannot be read: {error.strerror}; is there a checkout step?"
        raise wrong_input(name, message) from error
