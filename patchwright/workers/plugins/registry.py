"""The plug-in protocol of chat and ticket services, and those configured here."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import Final, Protocol

import structlog

from patchwright.core.channel import Tracker
from patchwright.core.clock import Clock
from patchwright.core.errors import ServiceError
from patchwright.core.settings.model import Settings
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.core.webhook import WebhookSource
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.plugins.people import ChatComposition
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.app import AddPages


@dataclass(frozen=True)
class WebContext:
    """The web side that a service comes to; `secret` signs what browsers keep."""

    inbox: Inbox
    find_page: Callable[[JobId, datetime], str]
    secret: bytes | None


@dataclass(frozen=True)
class PluginRoutes:
    """How a service comes in, and what goes on as long as the intake does."""

    webhook_source: WebhookSource | None = None
    background_tasks: tuple[AbstractContextManager[object], ...] = ()
    pages: tuple[AddPages, ...] = ()


class ChatPlugin(Protocol):
    """One service, connected; close it when done."""

    @property
    def tracker(self) -> Tracker: ...

    def name_person(self, actor: Actor) -> Actor:
        """Return somebody by the name that people know there; `ServiceError`."""
        ...

    def is_from_own_site(self, actor: Actor) -> bool:
        """Tell whether they are of the one place that is served; `ServiceError`."""
        ...

    def close(self) -> None: ...

    def open_routes(
        self, talking: ChatComposition, edge: WebContext
    ) -> PluginRoutes: ...


Connect = Callable[[Settings, SecretStore, Clock], ChatPlugin]


# Each is imported where it is configured: a service of GitHub alone starts without
# their libraries and models, which are a good part of all that it would import.
_MODULES: Final[Mapping[str, str]] = {
    "slack": "patchwright.workers.plugins.slack",
    "jira": "patchwright.workers.plugins.jira",
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ChatPlugins:
    """What is configured, by the service's name; close them when done."""

    plugins: Mapping[str, ChatPlugin] = field(default_factory=dict)

    @property
    def trackers(self) -> Mapping[str, Tracker]:
        return {name: side.tracker for name, side in self.plugins.items()}

    def open_routes(
        self, talking: ChatComposition, edge: WebContext
    ) -> Mapping[str, PluginRoutes]:
        return {
            name: side.open_routes(talking, edge) for name, side in self.plugins.items()
        }

    def name_person(self, actor: Actor) -> Actor:
        """Return somebody by the name they have there, if it can be found out."""
        side = self.plugins.get(actor.service)
        if side is None:
            return actor
        try:
            return side.name_person(actor)
        except ServiceError as error:
            log.warning("name_unknown", reason=error.reason)
            return actor

    def is_from_own_site(self, actor: Actor) -> bool:
        """Tell whether they are of the one place that is served; `ServiceError`."""
        side = self.plugins.get(actor.service)
        return side is not None and side.is_from_own_site(actor)

    def close(self) -> None:
        for side in self.plugins.values():
            side.close()


def connect_plugins(
    settings: Settings, secrets: SecretStore, clock: Clock
) -> ChatPlugins:
    configured = {
        "slack": settings.slack.is_configured,
        "jira": settings.jira.is_configured,
    }
    return ChatPlugins(
        {
            name: _connect(name)(settings, secrets, clock)
            for name, is_configured in configured.items()
            if is_configured
        }
    )


def _connect(service: str) -> Connect:
    connect: Connect = import_module(_MODULES[service]).connect
    return connect
