"""Read the settings where this process was started."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.load import load_settings
from patchwright.core.settings.model import Settings

_NO_FLAGS: Final[Mapping[str, object]] = MappingProxyType({})


def load_settings_here(flags: Mapping[str, object] = _NO_FLAGS) -> Settings:
    """Raise `SettingsError` with a line for everything that is wrong."""
    return load_settings(process_environment(), flags=flags, cwd=Path.cwd())
