"""Write the table of all settings for the documentation."""

from enum import Enum
from itertools import groupby

from pydantic import SecretStr

from patchwright.core.settings.schema import Form, Key, all_keys, find_section, variable
from patchwright.core.settings.sources import ALIASES

_GENERAL = "What belongs to no section stands at the top of the file."
_HEAD = "| key | environment | default | meaning |\n|---|---|---|---|"


def describe() -> str:
    """Return a Markdown section with a table for every section of the settings."""
    groups = groupby(all_keys(), key=lambda key: key.path[:-1])
    return "\n\n".join(_section(path, list(keys)) for path, keys in groups) + "\n"


def _section(path: tuple[str, ...], keys: list[Key]) -> str:
    section = find_section(path)
    title = f"## `{path[0]}`" if path else "## General"
    about = (section.__doc__ or "").strip() if path and section else _GENERAL
    return "\n".join([title, "", about, "", _HEAD, *map(_row, keys)])


def _row(key: Key) -> str:
    names = [variable(key.path)]
    names += [alias for alias, path in ALIASES.items() if path == key.path]
    if key.form is Form.SECRET:
        names += [f"{variable(key.path)}_FILE"]
    shown = ", ".join(f"`{name}`" for name in names)
    return f"| `{key.path[-1]}` | {shown} | {_default(key)} | {key.field.description} |"


def _default(key: Key) -> str:
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
