"""Write `docs/settings.md`, the tables of all settings."""

from enum import Enum
from itertools import groupby

from pydantic import SecretStr

from patchwright.core.settings.model import (
    SettingsKey,
    ValueForm,
    all_keys,
    find_section,
    variable_name,
)
from patchwright.core.settings.sources import ALIASES
from patchwright.integrations.settings import ALL_SETTINGS

# What watches the service comes after the sections of the plug-ins.
_LAST = "telemetry"
_GENERAL = "Keys without a section are at the top of the file."
_HEAD = "| key | environment | default | meaning |\n|---|---|---|---|"


_ABOUT = """\
# Settings

A setting comes from the first of these that has it: a flag on the command line, the
environment, `patchwright.toml` in the current folder (or the file that
`PATCHWRIGHT_CONFIG` names), the default. In the file a section is a table: `[github]`
with `mention = "@fixbot"`. In the environment, write lists and tables as JSON. A secret
can be read from a file: `..._FILE`, or `..._file` in `patchwright.toml`. An unknown key
is an error.

`[llm.NAME]` with the keys of `llm` adds another model, which `agent.model` can name.
"""


def page() -> str:
    return f"{_ABOUT}\n{describe()}"


def describe() -> str:
    """Return a Markdown section with a table for every section of the settings."""
    keys = sorted(all_keys(ALL_SETTINGS), key=lambda key: key.path[0] == _LAST)
    groups = groupby(keys, key=lambda key: key.path[:-1])
    return "\n\n".join(_section(path, list(keys)) for path, keys in groups) + "\n"


def _section(path: tuple[str, ...], keys: list[SettingsKey]) -> str:
    section = find_section(ALL_SETTINGS, path)
    title = f"## `{path[0]}`" if path else "## General"
    about = (section.__doc__ or "").strip() if path and section else _GENERAL
    return "\n".join([title, "", about, "", _HEAD, *map(_row, keys)])


def _row(key: SettingsKey) -> str:
    names = [variable_name(key.path)]
    names += [alias for alias, path in ALIASES.items() if path == key.path]
    if key.form is ValueForm.SECRET:
        names += [f"{variable_name(key.path)}_FILE"]
    shown = ", ".join(f"`{name}`" for name in names)
    return f"| `{key.path[-1]}` | {shown} | {_default(key)} | {key.field.description} |"


def _default(key: SettingsKey) -> str:
    extra = key.field.json_schema_extra
    if isinstance(extra, dict) and "default" in extra:
        return str(extra["default"])
    match key.field.default:
        case None | "" | ():
            return "none"
        case SecretStr() as secret:
            return f"`{secret.get_secret_value()}`"
        case Enum() as choice:
            return f"`{choice.value}`"
        case bool() as answer:
            return f"`{str(answer).lower()}`"
        case value:
            return f"`{value}`"
