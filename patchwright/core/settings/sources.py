"""Find the settings in the environment, in a file and among the flags."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from patchwright.core.settings.layers import SettingsLayer
from patchwright.core.settings.schema import PREFIX, KeyPath

CONFIG_VARIABLE = f"{PREFIX}CONFIG"
CONFIG_FILE = "patchwright.toml"

# Names that other tools use for the same thing; ours are stronger.
ALIASES: Mapping[str, KeyPath] = {
    "LLM_MODEL": ("llm", "model"),
    "LLM_API_KEY": ("llm", "api_key"),
    "LLM_API_KEY_FILE": ("llm", "api_key_file"),
    "LLM_BASE_URL": ("llm", "base_url"),
    "LOG_JSON": ("log_json",),
}
# The folder of outside payloads, for the tests alone.
_NOT_SETTINGS = frozenset({CONFIG_VARIABLE, f"{PREFIX}CORPUS"})
# Kubernetes tells every pod of every service, so also of one called "patchwright".
# https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
_SERVICE_LINK = re.compile(
    rf"{PREFIX}(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?"
    r"|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)\Z"
)


def read_flags(flags: Mapping[str, object], cwd: Path) -> SettingsLayer:
    """Read what was given on the command line, by dotted key; None was not given."""
    layer = SettingsLayer(cwd)
    for name, value in flags.items():
        if value is not None:
            layer.place(tuple(name.split(".")), value, "the command line")
    return layer


def read_environment(environ: Mapping[str, str], cwd: Path) -> SettingsLayer:
    """Read the variables that are ours; an empty one counts as not set."""
    aliases, ours = SettingsLayer(cwd), SettingsLayer(cwd)
    for name, text in sorted(environ.items()):
        where = f"environment variable {name}"
        if not text:
            continue
        if name in ALIASES:
            aliases.place_text(ALIASES[name], text, where)
        elif path := _path_of(name):
            ours.place_text(path, text, where)
    problems = [*aliases.problems, *ours.problems]
    return SettingsLayer(cwd, aliases.values | ours.values, problems)


def read_file(environ: Mapping[str, str], cwd: Path) -> SettingsLayer:
    """Read the file that the environment names, or else the one in the folder."""
    named = environ.get(CONFIG_VARIABLE)
    path = cwd / (named or CONFIG_FILE)
    layer = SettingsLayer(path.parent)
    if not named and not path.exists():
        return layer
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        layer.problems.append(f"{path}: cannot be read: {error.strerror}")
    except ValueError as error:
        layer.problems.append(f"{path}: not TOML: {error}")
    else:
        layer.place((), table, str(path))
    return layer


def _path_of(name: str) -> KeyPath | None:
    if not name.startswith(PREFIX) or name in _NOT_SETTINGS:
        return None
    if "__" not in name and _SERVICE_LINK.match(name):
        return None
    return tuple(name.removeprefix(PREFIX).lower().split("__"))
