"""The settings of a command, and what a person should change about them."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from patchwright.core.settings.model import Settings
from patchwright.integrations.settings import find_notices, load_settings_here
from patchwright.workers.cli.terminal import print_notice

_NO_FLAGS: Final[Mapping[str, object]] = MappingProxyType({})


def load_command_settings(
    flags: Mapping[str, object] = _NO_FLAGS, config: Path | None = None
) -> Settings:
    """Read them for this process, and print the notices on standard error.

    `config` is a file in place of `./patchwright.toml`. Raises `SettingsError`.
    """
    settings = load_settings_here(flags, config)
    for notice in find_notices(settings):
        print_notice(notice)
    return settings
