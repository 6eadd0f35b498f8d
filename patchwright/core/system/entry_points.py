"""Find what other packages bring: condensers, analyzers, runtimes and agents.

A package offers something by an entry point in one of the groups below, whose object
is called with what the group's protocol needs:
https://packaging.python.org/en/latest/specifications/entry-points/
"""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any, Final, TypeVar, cast

from patchwright.core.types.errors import SettingsError

CONDENSERS: Final = "patchwright.condensers"
ANALYZERS: Final = "patchwright.analyzers"
RUNTIMES: Final = "patchwright.runtimes"
AGENTS: Final = "patchwright.agents"

Make = TypeVar("Make", bound=Callable[..., Any])


def find_maker(
    group: str, name: str, built_in: Mapping[str, Make], *, setting: str
) -> Make:
    """Return what makes the thing of this name: ours, or else a plug-in's.

    Raises `SettingsError` that names the setting, and what could have been meant.
    """
    if name in built_in:
        return built_in[name]
    offered = {point.name: point for point in entry_points(group=group)}
    if name not in offered:
        known = ", ".join([*built_in, *sorted(offered)])
        raise SettingsError(
            f"{setting}: there is no {name!r}; there are: {known}. A plug-in can add "
            f"more with the entry point group {group}."
        )
    found = offered[name].load()
    if not callable(found):
        raise SettingsError(f"{setting}: what {name!r} offers cannot be called")
    return cast("Make", found)
