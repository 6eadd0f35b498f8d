"""What a service where no code lives brings along."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from patchwright.core.channel import Board
from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import JobId
from patchwright.core.types.people import Actor
from patchwright.workers.intake.intake import Intake
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.talk.compose import Talking
from patchwright.workers.web.app import AddPages
from patchwright.workers.web.receiver import Entrance

# Slack and Jira send no file along: what they say is small.
MAX_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Edge:
    """The web side that a service comes to; `secret` signs what browsers keep."""

    intake: Intake
    find_page: Callable[[JobId, datetime], str]
    secret: bytes | None


@dataclass(frozen=True)
class Doors:
    """How a service comes in, and what goes on as long as the intake does."""

    entrance: Entrance | None = None
    companions: tuple[AbstractContextManager[object], ...] = ()
    pages: tuple[AddPages, ...] = ()


class Side(Protocol):
    """One service, connected; close it when done."""

    @property
    def board(self) -> Board: ...

    def name_person(self, actor: Actor) -> Actor:
        """Return somebody by the name that people know there; `ServiceError`."""
        ...

    def is_at_home(self, actor: Actor) -> bool:
        """Tell whether they are of the one place that is served; `ServiceError`."""
        ...

    def close(self) -> None: ...

    def open_doors(self, talking: Talking, edge: Edge) -> Doors: ...


Connect = Callable[[Settings, SecretStore, Clock], Side]
