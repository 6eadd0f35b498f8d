"""Which version of Patchwright this is."""

from importlib.metadata import version

from patchwright.core.errors import SettingsError


def own_version() -> str:
    return version("patchwright")


def check_version(wanted: str) -> None:
    """Refuse to be another version than is wanted; raises `SettingsError`."""
    own = own_version()
    if wanted and wanted.removeprefix("v") != own:
        raise SettingsError(
            f"input `version` is {wanted}, but this action is {own}, and never fetches "
            f"another one; pin the action: uses: OWNER/REPOSITORY@v{wanted.lstrip('v')}"
        )
