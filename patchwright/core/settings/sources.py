"""The sources of settings: environment, file and flags, and what is wrong in them."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from patchwright.core.settings.model import (
    PREFIX,
    KeyPath,
    Settings,
    SettingsKey,
    SettingsNotice,
    ValueForm,
    dotted_key,
    find_key,
    find_section,
    is_model_name,
    nearest_key,
    variable_name,
)
from patchwright.core.settings.names import FORMER_NAMES, UNTIL, Place

_FILE = "_file"
_FORMER = FORMER_NAMES[Place.SETTINGS]


def renamed(old: str, name: str, where: str) -> SettingsNotice:
    variable = variable_name(tuple(name.split(".")))
    return SettingsNotice(
        text=f"{old} is now {name} ({variable}), found in {where}",
        fix=f"rename it; {UNTIL}",
    )


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value, and where it was found; `file` is the file that has it, if one does."""

    value: object
    where: str
    file: Path | None = None


@dataclass(slots=True)
class SettingsLayer:
    """The settings of one source; relative names of files start at `folder`.

    `file` is the settings file, if the source is one. `notices` are about values that
    have a former name.
    """

    root: type[Settings]
    folder: Path
    values: dict[KeyPath, FoundValue] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notices: list[SettingsNotice] = field(default_factory=list)
    file: Path | None = None

    def place(self, path: KeyPath, value: object, where: str) -> None:
        """Take over a value, or a table of them, or the file that holds it."""
        if (name := _FORMER.get(dotted_key(path))) is not None:
            self.notices.append(renamed(dotted_key(path), name, where))
            where = f"{where} as {dotted_key(path)}"
            path = tuple(name.split("."))
        key = find_key(self.root, path) if path else None
        if key:
            self._place_value(key, value, where)
        elif secret := _named_by_file(self.root, path):
            self._place_file(secret, value, where)
        elif find_section(self.root, path) and (
            isinstance(value, dict) or not is_model_name(path)
        ):
            self._place_table(path, value, where)
        else:
            self.problems.append(_unknown(self.root, path, where))

    def place_text(self, path: KeyPath, text: str, where: str) -> None:
        """Take over a value from a place that holds only text: tables are JSON."""
        key = find_key(self.root, path)
        is_json = (
            key.form is ValueForm.JSON if key else bool(find_section(self.root, path))
        )
        if not is_json or (is_model_name(path) and not text.startswith("{")):
            self.place(path, text, where)
            return
        try:
            self.place(path, json.loads(text), where)
        except json.JSONDecodeError:
            self.problems.append(
                f"{dotted_key(path)}: not JSON, found in {where}; {_JSON}"
            )

    def _place_value(
        self, key: SettingsKey, value: object, where: str, file: Path | None = None
    ) -> None:
        if key.form is ValueForm.SECRET and isinstance(value, str) and value[:1] == "[":
            value = _read_list(value)
        if key.path in self.values:
            places = f"{self.values[key.path].where} and {where}"
            self.problems.append(
                f"{dotted_key(key.path)}: set twice, in {places}; keep one of them"
            )
        self.values[key.path] = FoundValue(value, where, file or self.file)

    def _place_table(self, path: KeyPath, value: object, where: str) -> None:
        if not isinstance(value, dict):
            self.problems.append(f"{dotted_key(path)}: not a table, found in {where}")
            return
        for name, inner in value.items():
            self.place((*path, str(name)), inner, where)

    def _place_file(self, key: SettingsKey, value: object, where: str) -> None:
        file = self.folder / str(value)
        try:
            text = file.read_text("utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            what = f"the file named in {where} cannot be read"
            self.problems.append(f"{dotted_key(key.path)}: {what}: {reason}")
            return
        # As with a variable: what is empty is not set.
        if text:
            self._place_value(key, text, f"the file named in {where}", file)


_JSON = 'write lists as ["a", "b"] and tables as {"a": 1}'


def _named_by_file(root: type[Settings], path: KeyPath) -> SettingsKey | None:
    """Return the secret that `..._file` stands for."""
    if not path or not path[-1].endswith(_FILE):
        return None
    key = find_key(root, (*path[:-1], path[-1].removesuffix(_FILE)))
    return key if key and key.form is ValueForm.SECRET else None


def _unknown(root: type[Settings], path: KeyPath, where: str) -> str:
    nearest = nearest_key(root, path)
    return (
        f"{dotted_key(path)}: unknown key, found in {where}; the nearest known one is "
        f"{dotted_key(nearest)} ({variable_name(nearest)})"
    )


def _read_list(text: str) -> object:
    """Return the list that a text is in JSON, or the text: a secret may look so."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


CONFIG_VARIABLE = f"{PREFIX}CONFIG"
CONFIG_FILE = "patchwright.toml"
OWN_CONFIG_FILE = Path("patchwright") / "config.toml"

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


def read_flags(
    root: type[Settings], flags: Mapping[str, object], cwd: Path
) -> SettingsLayer:
    """Read what was given on the command line, by dotted key; None was not given."""
    layer = SettingsLayer(root, cwd)
    for name, value in flags.items():
        if value is not None:
            layer.place(tuple(name.split(".")), value, "the command line")
    return layer


def read_environment(
    root: type[Settings], environ: Mapping[str, str], cwd: Path
) -> SettingsLayer:
    """Read the variables that are ours; an empty one counts as not set."""
    aliases, ours = SettingsLayer(root, cwd), SettingsLayer(root, cwd)
    for name, text in sorted(environ.items()):
        where = f"environment variable {name}"
        if not text:
            continue
        if name in ALIASES:
            aliases.place_text(ALIASES[name], text, where)
        elif path := _path_of(name):
            ours.place_text(path, text, where)
    problems = [*aliases.problems, *ours.problems]
    values = aliases.values | ours.values
    return SettingsLayer(root, cwd, values, problems, ours.notices)


def read_files(
    root: type[Settings],
    environ: Mapping[str, str],
    cwd: Path,
    config: Path | None = None,
) -> list[SettingsLayer]:
    """Read the person's own file, and then the stronger one.

    That is the one that `config` or the environment names, or else the one in the
    folder. Only a file that was named must be there.
    """
    named = config or environ.get(CONFIG_VARIABLE)
    strong = cwd / (named or CONFIG_FILE)
    own = own_file(environ)
    layers = [] if own is None else [_read_file(root, own, must_exist=False)]
    return [*layers, _read_file(root, strong, must_exist=bool(named))]


def own_file(environ: Mapping[str, str]) -> Path | None:
    """Return where a person's own settings are, by the XDG rules.

    https://specifications.freedesktop.org/basedir-spec/latest/#variables
    """
    config, home = environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")
    if Path(config).is_absolute():
        return Path(config) / OWN_CONFIG_FILE
    return Path(home) / ".config" / OWN_CONFIG_FILE if home else None


def _read_file(root: type[Settings], path: Path, *, must_exist: bool) -> SettingsLayer:
    layer = SettingsLayer(root, path.parent, file=path)
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        if must_exist:
            layer.problems.append(f"{path}: cannot be read: {error.strerror}")
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
