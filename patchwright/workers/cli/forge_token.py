"""The token of the person at the command line, where the settings have none."""

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from patchwright.core.plugin import Plugin, TokenSource
from patchwright.core.settings.model import Settings, variable_name
from patchwright.core.types.errors import SettingsError

# It only reads what is stored; a keyring may wait for somebody who unlocks it.
COMMAND_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True)
class FoundToken:
    """Settings that have a token or an app, and what it was found in, in words."""

    settings: Settings
    found_in: str


def find_forge_token(
    forge: Plugin, settings: Settings, environ: Mapping[str, str]
) -> FoundToken:
    """Return the settings, with a token of the person's own if they have none.

    Raises `SettingsError` that says how to get one where there is none.
    """
    configured = forge.describe(settings).is_configured
    if configured or forge.find_token_source is None:
        return FoundToken(settings, f"the section `{forge.name}` of your settings")
    source = forge.find_token_source(settings)
    found = _find_own(source, settings, environ)
    if found is None:
        raise SettingsError(_no_token(forge, source))
    return found


def with_own_token(
    forge: Plugin, settings: Settings, environ: Mapping[str, str]
) -> Settings:
    """Return the settings as `resolve` would use them, whether there is a token or not.

    `doctor` says what is missing in its own words.
    """
    configured = forge.describe(settings).is_configured
    if configured or forge.find_token_source is None:
        return settings
    found = _find_own(forge.find_token_source(settings), settings, environ)
    return found.settings if found else settings


def _find_own(
    source: TokenSource, settings: Settings, environ: Mapping[str, str]
) -> FoundToken | None:
    for name in source.variables:
        if token := environ.get(name, "").strip():
            return FoundToken(source.add_to(settings, SecretStr(token)), name)
    if token := _run_command(source.command, environ):
        found_in = f"`{shlex.join(source.command)}`"
        return FoundToken(source.add_to(settings, SecretStr(token)), found_in)
    return None


def _no_token(forge: Plugin, source: TokenSource) -> str:
    variables = " or ".join(source.variables)
    setting = variable_name((forge.name, "token"))
    return (
        f"there is no token for {source.host}. Do one of these:\n"
        f"  log in with `{source.log_in}`\n"
        f"  set {variables}\n"
        f"  set {setting}, or {forge.name}.token in a settings file"
    )


def _run_command(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return what a command prints; nothing if it is missing, fails or hangs."""
    program = shutil.which(command[0], path=environ.get("PATH", ""))
    # Not what lies in the current folder, which may be anybody's repository.
    if program is None or not Path(program).is_absolute():
        return ""
    try:
        done = subprocess.run(
            [program, *command[1:]],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    printed = done.stdout.decode("utf-8", "replace").strip()
    is_token = done.returncode == 0 and len(printed.split()) == 1
    return printed if is_token else ""
