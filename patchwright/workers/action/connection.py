"""Connect to the forge whose CI we run in, and to no other."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from patchwright.core.plugin import ForgeConnection
from patchwright.core.plugin_host import MemoryVault
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import SystemClock
from patchwright.integrations.registry import PLUGINS, Plugins, find_forge
from patchwright.workers.plugins.connections import connect_forge


def plugins_of(service: str) -> Plugins:
    """Return all plug-ins but those of other forges.

    A variable of a group may configure a second forge; a job works where it runs.
    """
    return tuple(one for one in PLUGINS if one.name == service or not one.connect_forge)


@contextmanager
def connect(service: str, settings: Settings) -> Iterator[ForgeConnection]:
    """Connect where no database is open; what is learnt is kept in memory."""
    plugin = find_forge(settings, plugins_of(service))
    with closing(
        connect_forge(plugin, settings, MemoryVault(), SystemClock())
    ) as connected:
        yield connected
