"""What a service where no code lives brings along."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from patchwright.core.channel import Tracker
from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import JobId
from patchwright.core.types.people import Actor
from patchwright.workers.intake.intake import Inbox
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.talk.compose import ChatComposition
from patchwright.workers.web.app import AddPages
from patchwright.workers.web.receiver import WebhookSource

# Slack and Jira send no file along: what they say is small.
MAX_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True)
class WebContext:
    """The web side that a service comes to; `secret` signs what browsers keep."""

    intake: Inbox
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

    def open_routes(self, talking: ChatComposition, edge: WebContext) -> PluginRoutes: ...


Connect = Callable[[Settings, SecretStore, Clock], ChatPlugin]
