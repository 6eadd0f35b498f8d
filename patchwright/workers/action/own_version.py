"""Which version of Patchwright this is."""

import tomllib
from importlib import metadata
from pathlib import Path

import patchwright
from patchwright.core.errors import SettingsError


def own_version() -> str:
    """Return it; the Action runs from its checkout, where nothing is installed."""
    project = Path(patchwright.__file__).parents[1] / "pyproject.toml"
    if not project.is_file():
        return metadata.version("patchwright")
    return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"])


def check_version(wanted: str) -> None:
    """Refuse to be another version than is wanted; raises `SettingsError`."""
    own = own_version()
    if wanted and wanted.removeprefix("v") != own:
        raise SettingsError(
            f"input `version` is {wanted}, but this action is {own}, and never fetches "
            f"another one; pin the action: uses: OWNER/REPOSITORY@v{wanted.lstrip('v')}"
        )
