"""The channels that runs speak in: services that are configured, and runs' pages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from patchwright.core.channel import Offers, ServiceChannel, Tracker
from patchwright.core.plugin import (
    ChatConnection,
    ForgeConnection,
    Plugin,
    PluginRoutes,
)
from patchwright.core.plugin_host import PluginHost, SecretVault
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import (
    NotFoundError,
    ServiceError,
    SettingsError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, Thread, ThreadPost
from patchwright.integrations.registry import PLUGINS, Plugins
from patchwright.resolver.job import Job

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ChatConnections:
    """What is configured, by the service's name; close them when done."""

    connections: Mapping[str, ChatConnection] = field(default_factory=dict)

    @property
    def trackers(self) -> Mapping[str, Tracker]:
        return {
            name: connection.tracker for name, connection in self.connections.items()
        }

    def open_routes(
        self, make_host: Callable[[str], PluginHost]
    ) -> Mapping[str, PluginRoutes]:
        return {
            name: connection.open_routes(make_host(name))
            for name, connection in self.connections.items()
        }

    def name_person(self, actor: Actor) -> Actor:
        """Return somebody by the name they have there, if it can be found out."""
        connection = self.connections.get(actor.service)
        if connection is None:
            return actor
        try:
            return connection.name_person(actor)
        except ServiceError as error:
            log.warning("name_unknown", reason=error.reason)
            return actor

    def is_from_own_site(self, actor: Actor) -> bool:
        """Tell whether they are of the one place that is served; `ServiceError`."""
        connection = self.connections.get(actor.service)
        return connection is not None and connection.is_from_own_site(actor)

    def close(self) -> None:
        for connection in self.connections.values():
            connection.close()


def connect_forge(
    plugin: Plugin, settings: Settings, secrets: SecretVault, clock: Clock
) -> ForgeConnection:
    if plugin.connect_forge is None:
        raise SettingsError(f"no code lives at {plugin.title}")
    return plugin.connect_forge(settings, secrets, clock)


def connect_chats(
    settings: Settings,
    secrets: SecretVault,
    clock: Clock,
    plugins: Plugins = PLUGINS,
) -> ChatConnections:
    return ChatConnections(
        {
            one.name: one.connect_chat(settings, secrets, clock)
            for one in plugins
            if one.connect_chat and one.describe(settings).is_configured
        }
    )


@dataclass(frozen=True)
class PageChannel(ServiceChannel[ForgeThread]):
    """A channel whose threads are the pages of their runs.

    A page shows the log itself, so that there is nothing to post or to edit.
    `find_first` returns the job that such a thread began with.
    """

    find_first: Callable[[ForgeThread], Job | None]

    def fetch_thread(self, ref: ForgeThread) -> Thread:
        job = self.find_first(ref)
        if job is None:
            raise NotFoundError(f"there is no request {ref.token}")
        asked = job.trigger
        opening = ThreadPost(
            id="", author=asked.actor, text=asked.body, at=job.created_at
        )
        return Thread(ref=ref, title=asked.title, url="", posts=(opening,))

    def find_post(self, _ref: ForgeThread, _mark: str) -> str | None:
        return None

    def post(self, _ref: ForgeThread, _text: str, _offers: Offers = ()) -> str:
        return ""

    def edit(
        self, ref: ForgeThread, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        """Leave it to the page."""
