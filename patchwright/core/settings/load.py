"""Make the settings out of all their sources."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from patchwright.core.errors import SettingsError
from patchwright.core.settings.layers import FoundValue
from patchwright.core.settings.mcp_checks import mcp_errors
from patchwright.core.settings.model import Settings
from patchwright.core.settings.schema import KeyPath, dotted_key, find_key
from patchwright.core.settings.sources import (
    read_environment,
    read_file,
    read_flags,
)

_STATE_DIR = ("state_dir",)
_DATABASE_URL = ("database", "url")


def load_settings(
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, object],
    cwd: Path,
) -> Settings:
    """Read flags, environment, file and defaults, the first that has a key winning.

    `flags` are named by dotted key (`limits.max_cost_usd`); one that is None was not
    given. Raises `SettingsError` with a line for everything that is wrong.
    """
    layers = [
        read_file(environ, cwd),
        read_environment(environ, cwd),
        read_flags(flags, cwd),
    ]
    values = _default_places(environ, cwd)
    for layer in layers:
        values |= layer.values
    _settle_places(values, cwd)
    problems = [problem for layer in layers for problem in layer.problems]
    try:
        settings = Settings.model_validate(_nest(values))
    except ValidationError as error:
        problems += [_describe(problem, values) for problem in error.errors()]
        raise SettingsError("\n".join(problems)) from None
    problems += mcp_errors(settings)
    if problems:
        raise SettingsError("\n".join(problems))
    return settings


def _default_places(environ: Mapping[str, str], cwd: Path) -> dict[KeyPath, FoundValue]:
    """Return where state is kept by the rules of the desktop, or else here.

    https://specifications.freedesktop.org/basedir-spec/latest/#variables
    """
    state = environ.get("XDG_STATE_HOME", "")
    home = environ.get("HOME", "")
    if Path(state).is_absolute():
        folder = Path(state) / "patchwright"
    elif home:
        folder = Path(home) / ".local" / "state" / "patchwright"
    else:
        folder = cwd / ".patchwright"
    return {_STATE_DIR: FoundValue(str(folder), "the default")}


def _settle_places(values: dict[KeyPath, FoundValue], cwd: Path) -> None:
    folder = cwd / str(values[_STATE_DIR].value)
    values[_STATE_DIR] = FoundValue(folder, values[_STATE_DIR].where)
    url = f"sqlite:///{folder / 'patchwright.db'}"
    values.setdefault(_DATABASE_URL, FoundValue(url, "the default"))


def _nest(values: Mapping[KeyPath, FoundValue]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, found in values.items():
        table = tree
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table[path[-1]] = found.value
    return tree


def _describe(problem: Any, values: Mapping[KeyPath, FoundValue]) -> str:  # noqa: ANN401 - pydantic's
    """Say what is wrong and where, without the value: it may be a secret."""
    place = tuple(str(part) for part in problem["loc"] if part != "named")
    lengths = range(len(place), 0, -1)
    path = next((place[:n] for n in lengths if place[:n] in values), place)
    message = problem["msg"].removeprefix("Value error, ")
    where = f", found in {values[path].where}" if path in values else ""
    key = find_key(place)
    meaning = f"; {path[-1]} means: {key.field.description}" if key else ""
    return f"{dotted_key(place)}: {message}{where}{meaning}"
