"""Write `docs/settings.md`, the tables of all settings."""

from enum import Enum
from itertools import starmap

from pydantic import SecretStr

from patchwright.core.settings.model import (
    SettingsKey,
    ValueForm,
    all_keys,
    dotted_key,
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

A setting comes from the first of these that has it:

1. a flag on the command line
2. an environment variable, such as `LLM_MODEL` or `PATCHWRIGHT_SERVER__PORT`
3. `patchwright.toml` in the current folder, or the file that `--config` or
   `PATCHWRIGHT_CONFIG` names
4. `${XDG_CONFIG_HOME:-~/.config}/patchwright/config.toml`, your own file: the best
   place for an API key
5. the default

The files are merged key by key. In a file a section is a table: `[github]` with
`mention = "@fixbot"`. In the environment, write lists and tables as JSON. A secret can
be read from a file: `..._FILE`, or `..._file` in a settings file. An unknown key is an
error. A secret in a file that git tracks is a warning at each start, and a failure in
`patchwright doctor`.

`[llm.NAME]` with the keys of `llm` adds another model, which `agent.model` can name.
[Names](names.md) compares the settings with `.patchwright.toml`, the Action and the
command line, and lists former names.
"""


def page() -> str:
    return f"{_ABOUT}\n{describe()}"


def describe() -> str:
    """Return a Markdown section with a table for every section of the settings."""
    keys = sorted(all_keys(ALL_SETTINGS), key=lambda key: key.path[0] == _LAST)
    tables: dict[tuple[str, ...], list[SettingsKey]] = {}
    for key in keys:
        tables.setdefault(key.path[:-1], []).append(key)
    return "\n\n".join(starmap(_section, tables.items())) + "\n"


def _section(path: tuple[str, ...], keys: list[SettingsKey]) -> str:
    section = find_section(ALL_SETTINGS, path)
    title = f"## `{dotted_key(path)}`" if path else "## General"
    about = (section.__doc__ or "").strip() if path and section else _GENERAL
    return "\n".join([title, "", about, "", _HEAD, *map(_row, keys)])


def _row(key: SettingsKey) -> str:
    names = [alias for alias, path in ALIASES.items() if path == key.path]
    names += [variable_name(key.path)]
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
