"""Find what other packages bring: condensers, analyzers, runtimes and agents.

A package offers something by an entry point in one of the groups below, whose object
is called with what the group's protocol needs:
https://packaging.python.org/en/latest/specifications/entry-points/
"""

from importlib.metadata import entry_points
from typing import Final

from patchwright.core.errors import SettingsError

CONDENSERS: Final = "patchwright.condensers"
ANALYZERS: Final = "patchwright.analyzers"
RUNTIMES: Final = "patchwright.runtimes"
AGENTS: Final = "patchwright.agents"


def load_plugin(group: str, name: str, *, setting: str, built_in: list[str]) -> object:
    """Return what a plug-in offers under this name.

    `setting` and `built_in` are for the error that says what could have been meant.
    """
    offered = {point.name: point for point in entry_points(group=group)}
    if name not in offered:
        known = ", ".join([*built_in, *sorted(offered)])
        raise SettingsError(
            f"{setting}: there is no {name!r}; there are: {known}. A plug-in offers "
            f"more under the entry point group {group}."
        )
    return offered[name].load()
