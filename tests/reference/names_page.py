"""Write `docs/names.md`: what one thing is called, and its default, in every place."""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, Final

from pydantic import SecretStr

from patchwright.core.settings.model import SettingsKey, find_key
from patchwright.core.settings.names import (
    COMMON_NAMES,
    FORMER_LABEL,
    FORMER_NAMES,
    CommonName,
    Place,
)
from patchwright.core.settings.repository import GENERAL_INSTRUCTIONS, RepositoryConfig
from patchwright.integrations.github.ci.gate import USUAL_TEMPLATE
from patchwright.integrations.github.ci.workflow import GITHUB_INPUTS
from patchwright.integrations.settings import ALL_SETTINGS
from patchwright.workers.cli.main import make_app

# What holds where a key of a repository is empty or not set.
_USUAL: Final[Mapping[str, object]] = {
    "branch": USUAL_TEMPLATE,
    "context_from": "write",
    "instructions": GENERAL_INSTRUCTIONS,
}

_ABOUT: Final = """\
# Names

The same thing has the same name in every place: a setting has its section in front, the
Action writes hyphens, and so does the command line, which leaves out the unit. It also
has the same default. Where one of them differs, the last column says why. An empty cell
means that it cannot be set there; a default of `none` means that the value of another
place applies, or nothing. In GitLab CI the names and defaults of the Action are inputs
of the template and, in upper case after `PATCHWRIGHT_`, variables: `fail-on` is
`PATCHWRIGHT_FAIL_ON` ([what differs](gitlab-ci.md#inputs)).

| `.patchwright.toml` | setting | Action | command line | default | why it differs |
|---|---|---|---|---|---|
"""
_FORMER: Final = f"""
## Former names

These names work for one more release. Each use is told: in the log and by `doctor`
(settings), in the result (`.patchwright.toml`), beside the workflow run (Action), on
the terminal. Both names in one place are an error. If the Action has no `label`, the
label `{FORMER_LABEL}` still starts a run.

| place | former name | name |
|---|---|---|
"""


def page() -> str:
    rows = (
        f"| {place} | `{old}` | `{name}` |\n"
        for place, names in FORMER_NAMES.items()
        for old, name in names.items()
    )
    return "".join([_ABOUT, *map(_row, COMMON_NAMES), _FORMER, *rows])


def defaults_of(one: CommonName) -> dict[Place, str]:
    """Return the default of each place that has one, as the Action would write it."""
    found: dict[Place, object] = {}
    if one.repository:
        field = RepositoryConfig.model_fields[one.repository]
        found[Place.REPOSITORY] = _USUAL.get(one.repository, field.default)
    if one.setting:
        found[Place.SETTINGS] = _key_of(one.setting).field.default
    if one.action:
        found[Place.ACTION] = GITHUB_INPUTS[one.action].default
    if one.option:
        found[Place.COMMAND_LINE] = options()[one.option].default
    texts = {place: _text(value) for place, value in found.items()}
    return {place: text for place, text in texts.items() if text}


def _key_of(setting: str) -> SettingsKey:
    key = find_key(ALL_SETTINGS, tuple(setting.split(".")))
    if key is None:
        raise LookupError(f"{setting} is not a setting")
    return key


@cache
def options() -> dict[str, Any]:
    """Return the options of `resolve` by each of their names."""
    command = make_app().commands["resolve"]
    return {name: one for one in command.params for name in one.opts if name[:1] == "-"}


def _text(value: object) -> str:
    match value:
        case None | "" | () | False:
            return ""
        case SecretStr() as secret:
            return secret.get_secret_value()
        case Enum() as choice:
            return str(choice.value)
        case True:
            return "true"
        case tuple() as parts:
            return ",".join(map(str, parts))
        case dict():
            return ""
        case float() | int() as number:
            return f"{number:g}"
        case _:
            return _as_number(str(value))


def _as_number(text: str) -> str:
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _row(one: CommonName) -> str:
    names = (one.repository, one.setting, one.action, one.option)
    cells = (*(f"`{name}`" if name else "" for name in names), _default(one))
    return f"| {' | '.join((*cells, one.reason))} |\n".replace("|  ", "| ")


def _default(one: CommonName) -> str:
    """Return it once where every place has the same, else with the place of each."""
    defaults = defaults_of(one)
    if one.reason or len(set(defaults.values())) > 1:
        shown = [f"{place}: `{text}`" for place, text in defaults.items()]
    else:
        shown = [f"`{text}`" for text in set(defaults.values())]
    return ", ".join(shown) or "none"
