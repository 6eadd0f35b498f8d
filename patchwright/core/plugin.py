"""The plug-in of a service: what it brings, and what it may use of ours.

A plug-in is one value in `integrations.registry`. It is light: what takes long to
import is imported by the functions that need it, see `import_later`.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from pydantic import SecretStr

from patchwright.core.channel import ServiceChannel, Tracker
from patchwright.core.clock import Clock
from patchwright.core.forge import Forge, Reviews
from patchwright.core.settings.model import Settings
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadRef
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


class PluginCheck(NamedTuple):
    """A check of `patchwright doctor`, which has so many seconds to answer."""

    name: str
    within_s: float = 20.0


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


class Installed(Value):
    """Where an app was installed."""

    id: str
    name: str


@dataclass(frozen=True)
class AppInstallation:
    """How people install our app at a service, each time for one place there.

    `address` returns where a browser goes to agree, by a word that must come back with
    it to `callback_path`; `install` exchanges the code that it brings, and may raise
    `ServiceError`.
    """

    title: str
    path: str
    callback_path: str
    address: Callable[[str], str]
    install: Callable[[str], Installed]


@dataclass(frozen=True)
class PeriodicTask:
    act: Callable[[], None]
    every_s: float


@dataclass(frozen=True)
class PluginRoutes:
    """How a service comes in, and what goes on as long as the intake does."""

    webhook_source: WebhookSource | None = None
    background_tasks: tuple[AbstractContextManager[object], ...] = ()
    periodic_tasks: tuple[PeriodicTask, ...] = ()
    installation: AppInstallation | None = None


class ChatConnection(Protocol):
    """A service where people talk, connected; close it when done."""

    @property
    def tracker(self) -> Tracker: ...

    def name_person(self, actor: Actor) -> Actor:
        """Return somebody by the name that people know there; `ServiceError`."""
        ...

    def is_from_own_site(self, actor: Actor) -> bool:
        """Tell whether they are of the one place that is served; `ServiceError`."""
        ...

    def open_routes(self, host: PluginHost) -> PluginRoutes: ...

    def close(self) -> None: ...


class SignInProvider(Protocol):
    """A service at which people prove who they are, and let us act for them."""

    def address(self, state: str, verifier: str) -> str:
        """Return where a browser goes to sign in."""
        ...

    def fetch_person(self, code: str, verifier: str) -> Actor:
        """Return who came back with the code; raises `ServiceError` if nobody did."""
        ...

    def fetch_grant(self, code: str, verifier: str) -> tuple[Actor, PersonalToken]:
        """Return who came back with the code, and what they let us do."""
        ...


class ForgeAccounts(Protocol):
    """The people of a forge: how they sign in, and what we do in their name."""

    def sign_in(self, redirect_uri: str) -> SignInProvider: ...

    def renew(self, refresh_token: SecretStr) -> PersonalToken:
        """Return a new grant; `AuthenticationError` where only the person can help."""
        ...

    def is_valid(self, token: SecretStr) -> bool: ...

    def fetch_readable(self, token: SecretStr, query: str) -> tuple[str, ...]:
        """Return names of repositories that the person can read, likeliest first."""
        ...


class DeliveryAttempt(Value):
    """One try to bring a delivery; each has an id, and shares the `guid`."""

    id: int
    guid: str
    delivered_at: datetime
    status_code: int


class Hook(Protocol):
    """A webhook of the service's that can be asked for what did not arrive.

    Its calls raise the errors of `core.errors`.
    """

    @property
    def path(self) -> str: ...

    def list_failed(self, since: datetime) -> tuple[DeliveryAttempt, ...]:
        """Return the attempts that failed, newest first, if another may succeed."""
        ...

    def redeliver(self, attempt_id: int) -> None: ...


class ForgeConnection(Protocol):
    """A service where code lives, connected; close it when done."""

    @property
    def forge(self) -> Forge: ...

    @property
    def channel(self) -> ServiceChannel[ForgeThread]: ...

    @property
    def reviews(self) -> Reviews | None: ...

    @property
    def git_environment(self) -> Mapping[str, str]:
        """What git needs in its environment to reach the forge."""
        ...

    @property
    def starts_no_checks(self) -> bool:
        """Whether what we push there sets off no workflow."""
        ...

    def fetch_identity(self) -> Actor | None:
        """Return who we are there, or None if that cannot be said."""
        ...

    def find_hooks(self, url: str, repos: Iterable[RepoRef]) -> Iterable[Hook]:
        """Return the webhooks that bring us deliveries to `url`, as far as known."""
        ...

    def open_routes(self, host: PluginHost) -> PluginRoutes: ...

    def close(self) -> None: ...


class ServiceProfile(Value):
    """What other code may know of a service, as it is set up here.

    `account_host` tells apart the accounts of several such services, and `web_url` is
    where people find it. With `can_sign_in` people have a way to prove who they are.
    `mention` and `label` are what calls us there, empty where that is as it is on the
    forge. `repositories` are those that the administrator has given to places there,
    `repositories_setting` is where. `addresses` are what must be reached, each with the
    file of authorities to trust. `ticket_url` has an `{id}`, and what is on the
    `private_host` is not for everybody. A forge's commits are ours by `mail_domain`;
    with `signs_commits` it makes them itself, and `commit_key` signs the others.
    """

    name: str
    title: str
    is_configured: bool
    web_url: str = ""
    account_host: str = ""
    can_sign_in: bool = False
    mention: str = ""
    label: str = ""
    mail_domain: str = ""
    signs_commits: bool = False
    commit_key: SecretStr | None = None
    repositories: Mapping[str, str] = {}
    repositories_setting: str = ""
    addresses: Mapping[str, str] = {}
    ticket_url: str = ""
    private_host: str = ""


class ServiceDirectory(Value):
    """The services here: the forge, and those where people talk, by their names."""

    forge: ServiceProfile
    chats: Mapping[str, ServiceProfile] = {}

    def mention_in(self, thread: ThreadRef) -> str:
        """Return what calls us in a thread."""
        return self._chat_of(thread).mention or self.forge.mention

    def label_in(self, thread: ThreadRef) -> str:
        """Return the label that starts a run in a thread."""
        return self._chat_of(thread).label or self.forge.label

    def repositories_in(self, thread: ThreadRef) -> Mapping[str, str]:
        """Return the repositories of the places of the thread's service."""
        return self._chat_of(thread).repositories

    @property
    def mapped_repositories(self) -> tuple[str, ...]:
        """Return all that the administrator has given to places, each once."""
        named = (
            repo for one in self.chats.values() for repo in one.repositories.values()
        )
        return tuple(dict.fromkeys(filter(None, named)))

    def _chat_of(self, thread: ThreadRef) -> ServiceProfile:
        return self.chats.get(thread.service, self.forge)


ConnectChat = Callable[[Settings, SecretVault, Clock], ChatConnection]
ConnectForge = Callable[[Settings, SecretVault, Clock], ForgeConnection]


@dataclass(frozen=True)
class Plugin:
    """One service: with `connect_forge` if it is a forge, else with `connect_chat`.

    Without `make_accounts` nobody can sign in with it. `installation_secret` is the
    name of the stored secret of an app's installation. `host_word` comes before the
    name of a person's place, such as `workspace`.
    """

    name: str
    title: str
    describe: Callable[[Settings], ServiceProfile]
    connect_chat: ConnectChat | None = None
    connect_forge: ConnectForge | None = None
    make_accounts: Callable[[Settings, Clock], ForgeAccounts] | None = None
    installation_secret: Callable[[str], SecretName] | None = None
    host_word: str = ""
    checks: tuple[PluginCheck, ...] = ()


def import_later(target: str) -> Callable[..., Any]:
    """Return a function that is imported, as `module:name`, when it is first called."""
    module, _, name = target.partition(":")

    def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as it is passed on
        return getattr(import_module(module), name)(*arguments, **named)

    return call
