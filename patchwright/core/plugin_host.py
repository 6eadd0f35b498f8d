"""What a plug-in may use of the service that it is part of."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from pydantic import SecretStr

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import InstallationChanged
from patchwright.core.webhook import Delivery, InboxResult, WebhookSource


class SecretVault(Protocol):
    """Keeps secrets, encrypted, under the name of whom they belong to and their own."""

    def put(
        self,
        name: str,
        value: SecretStr,
        expires_at: datetime | None = None,
        *,
        owner: str = "",
    ) -> None: ...

    def fetch(self, name: str, *, owner: str = "") -> SecretStr | None:
        """Return a secret unless it has expired; `DecryptionError` if it is damaged."""
        ...

    def names(self, owner: str) -> tuple[str, ...]: ...


class MemoryVault:
    """A `SecretVault` for the life of one process."""

    def __init__(self) -> None:
        self._secrets: dict[tuple[str, str], SecretStr] = {}

    def put(
        self,
        name: str,
        value: SecretStr,
        expires_at: datetime | None = None,
        *,
        owner: str = "",
    ) -> None:
        del expires_at
        self._secrets[owner, name] = value

    def fetch(self, name: str, *, owner: str = "") -> SecretStr | None:
        return self._secrets.get((owner, name))

    def names(self, owner: str) -> tuple[str, ...]:
        return tuple(name for whose, name in self._secrets if whose == owner)


class SecretName(NamedTuple):
    """The names under which a secret is stored."""

    name: str
    owner: str = ""


class PollingPositions(Protocol):
    """How far each source was read, by its name."""

    def read_up_to(self, source: str) -> datetime | None: ...

    def put(self, source: str, read_up_to: datetime) -> None: ...


class ShownRun(Value):
    """A run in a person's list; `cost` is in words, such as `$0.41`."""

    state: str
    title: str
    url: str
    cost: str = ""


class PersonSummary(Value):
    """What a person sees of their own, where a service has a page for it.

    `linked_as` is their name on the forge, or empty.
    """

    runs: tuple[ShownRun, ...] = ()
    repository: str = ""
    linked_as: str = ""


class PersonServices(Protocol):
    """What a person can look up and choose from within a service."""

    def find_repositories(self, actor: Actor, query: str) -> tuple[str, ...]:
        """Return names to choose from; none for somebody whom the forge can't know."""
        ...

    def choose_repository(self, actor: Actor, full_name: str) -> None:
        """Keep a person's default; an empty name takes it back."""
        ...

    def summarize(self, actor: Actor, max_runs: int) -> PersonSummary: ...


Receive = Callable[[WebhookSource, Mapping[str, str], bytes], dict[str, object] | None]


@dataclass(frozen=True)
class PluginHost:
    """What a plug-in's side of the web may use of the service that it is part of.

    `submit` stores a delivery. `receive` does so with one that came over a connection
    of the plug-in's own, and returns what its sender waits for. `find_affected` returns
    where runs are at work that an installation's end would stop, and `find_user_token`
    what acts for a person who has linked an account.
    """

    clock: Clock
    positions: PollingPositions
    people: PersonServices
    submit: Callable[[Delivery], "Future[InboxResult]"]
    receive: Receive
    find_affected: Callable[[InstallationChanged], frozenset[RepoRef | None]]
    find_user_token: Callable[[Actor], SecretStr | None]
    max_body_bytes: int
