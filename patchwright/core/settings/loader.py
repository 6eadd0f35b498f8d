"""The settings made out of all their sources."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from patchwright.core.security.hosts import read_domain
from patchwright.core.settings.mcp import McpServerSettings
from patchwright.core.settings.model import (
    KeyPath,
    SecretInFile,
    Settings,
    SettingsNotice,
    SettingSource,
    ValueForm,
    all_keys,
    dotted_key,
    find_key,
    secret_values,
    variable_name,
)
from patchwright.core.settings.names import UNTIL
from patchwright.core.settings.placeholders import without_placeholders
from patchwright.core.settings.sources import (
    ALIASES,
    FoundValue,
    read_environment,
    read_files,
    read_flags,
)
from patchwright.core.types.errors import SettingsError

_SHORTEST_SECRET = 6


def mcp_errors(settings: Settings) -> Iterator[str]:
    """Yield a line for each server that may not be used as it is configured."""
    secrets = [s for s in secret_values(settings) if len(s) >= _SHORTEST_SECRET]
    for name, server in settings.mcp.servers.items():
        place = f"mcp.servers.{name}"
        if server.host and server.host not in allowed_hosts(settings):
            yield (
                f"{place}.url: the host {server.host} is not allowed; add it to "
                f"sandbox.allow_domains ({variable_name(('sandbox', 'allow_domains'))})"
            )
        yield from _secret_errors(place, server, secrets, type(settings))


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Return the hosts that are listed by their full names; a server needs that."""
    domains = map(read_domain, settings.sandbox.allow_domains)
    return frozenset(one.host for one in domains if not one.with_subdomains)


def _secret_errors(
    place: str,
    server: McpServerSettings,
    secrets: Sequence[str],
    root: type[Settings],
) -> Iterator[str]:
    """Refuse what would bring a credential of the service into the sandbox."""
    names = _secret_names(root)
    for name, value in server.env.items():
        if name.upper() in names or _holds_any(value, secrets):
            yield (
                f"{place}.env.{name}: a secret of the service must not enter the "
                "sandbox; remove it, or use a server with a `url` and `headers`"
            )
    if any(_holds_any(word, secrets) for word in server.command):
        yield (
            f"{place}.command: contains a secret of the service, which must not enter "
            "the sandbox; remove it"
        )


def _secret_names(root: type[Settings]) -> frozenset[str]:
    secret = {key.path for key in all_keys(root) if key.form is ValueForm.SECRET}
    aliases = (alias for alias, path in ALIASES.items() if path in secret)
    names = {*map(variable_name, secret), *aliases}
    return frozenset(names | {f"{name}_FILE" for name in names})


def _holds_any(text: str, secrets: Sequence[str]) -> bool:
    return any(secret in text for secret in secrets)


_STATE_DIR = ("state_dir",)
_DATABASE_URL = ("database", "url")


def read_settings(
    root: type[Settings],
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, object],
    cwd: Path,
    config: Path | None = None,
) -> Settings:
    """Read flags, environment, files and defaults, the first that has a key winning.

    `flags` are named by dotted key (`limits.max_cost_usd`); one that is None was not
    given. `config` takes the place of the file in the folder. Raises `SettingsError`
    with a line for everything that is wrong.
    """
    layers = [
        *read_files(root, environ, cwd, config),
        read_environment(root, environ, cwd),
        read_flags(root, flags, cwd),
    ]
    found, placeholders = without_placeholders(root, layers)
    values = _default_places(environ, cwd) | found
    _settle_places(values, cwd)
    problems = [problem for layer in layers for problem in layer.problems]
    problems += placeholders
    try:
        settings = root.model_validate(_nest(values))
    except ValidationError as error:
        problems += [_describe(root, problem, values) for problem in error.errors()]
        raise SettingsError("\n".join(problems)) from None
    problems += mcp_errors(settings)
    if problems:
        raise SettingsError("\n".join(problems))
    return settings.replace(
        sources=tuple(_sources(values)),
        notices=(
            *(notice for layer in layers for notice in layer.notices),
            *_mcp_notices(settings),
        ),
        secrets_in_files=tuple(_secrets_in_files(root, values, settings)),
    )


def _sources(values: Mapping[KeyPath, FoundValue]) -> Iterator[SettingSource]:
    for path, one in sorted(values.items()):
        yield SettingSource(key=dotted_key(path), where=one.where)


def _mcp_notices(settings: Settings) -> Iterator[SettingsNotice]:
    for name, server in settings.mcp.servers.items():
        if server.has_former_name:
            place = f"mcp.servers.{name}"
            yield SettingsNotice(
                text=f"{place}.timeout_s is now {place}.timeout_seconds",
                fix=f"rename it; {UNTIL}",
            )


def _secrets_in_files(
    root: type[Settings], values: Mapping[KeyPath, FoundValue], settings: Settings
) -> Iterator[SecretInFile]:
    """Yield the secrets that files have; of an address only a password is one."""
    secrets = [s for s in secret_values(settings) if len(s) >= _SHORTEST_SECRET]
    for path, found in values.items():
        key = find_key(root, path)
        is_secret = key is not None and key.form is ValueForm.SECRET
        if found.file and is_secret and _holds_any(str(found.value), secrets):
            yield SecretInFile(key=dotted_key(path), file=found.file)


def _default_places(environ: Mapping[str, str], cwd: Path) -> dict[KeyPath, FoundValue]:
    """Return the state folder of the XDG rules, or else one in the current folder.

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


def _describe(
    root: type[Settings],
    problem: Any,  # noqa: ANN401 - pydantic's
    values: Mapping[KeyPath, FoundValue],
) -> str:
    """Say what is wrong and where, without the value: it may be a secret."""
    place = tuple(str(part) for part in problem["loc"] if part != "named")
    lengths = range(len(place), 0, -1)
    path = next((place[:n] for n in lengths if place[:n] in values), place)
    message = problem["msg"].removeprefix("Value error, ")
    where = f", found in {values[path].where}" if path in values else ""
    key = find_key(root, place)
    meaning = f"; {path[-1]} means: {key.field.description}" if key else ""
    return f"{dotted_key(place)}: {message}{where}{meaning}"
