"""The plug-in of a service: what it brings; `plugin_host` has what it may use.

A plug-in is one value in `integrations.registry`. It is light: what takes long to
import is imported by the functions that need it, see `import_later`.
"""
# ruff: noqa: ARG002 - a default needs nothing of what it is given

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any, Protocol

from pydantic import SecretStr

from patchwright.core.channel import ServiceChannel, Tracker
from patchwright.core.doctor import DoctorCheck, SettingsReview
from patchwright.core.forge import Forge, Reviews
from patchwright.core.plugin_host import PluginHost, SecretName, SecretVault
from patchwright.core.settings.fields import SettingsSection
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.core.types.threads import (
    USUAL_FORMS,
    ForgeForms,
    ForgeThread,
    RepoRef,
    ThreadRef,
)
from patchwright.core.webhook import WebhookSource
from patchwright.core.webhook_address import AddressProblem, find_address_problem


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

    Its calls raise the errors of `core.types.errors`.
    """

    @property
    def path(self) -> str: ...

    def list_failed(self, since: datetime) -> tuple[DeliveryAttempt, ...]:
        """Return the attempts that failed, newest first, if another may succeed."""
        ...

    def redeliver(self, attempt_id: int) -> None: ...


class InstallationReach(Value):
    """How many repositories an installation of our app reaches, and one of them."""

    count: int
    first: str


class ReachedAccount(Value):
    """Our app in one account: the names of repositories there, not all where many are.

    `url` is where its owner changes it; `is_suspended` says that it reaches none now.
    """

    account: str
    url: str
    count: int = 0
    repositories: tuple[str, ...] = ()
    is_suspended: bool = False


class ForgeConnection(Protocol):
    """A service where code lives, connected; close it when done.

    A class that derives from it has no reviews and no hooks unless it says otherwise.
    """

    @property
    def forge(self) -> Forge: ...

    @property
    def channel(self) -> ServiceChannel[ForgeThread]: ...

    @property
    def reviews(self) -> Reviews | None:
        return None

    @property
    def git_environment(self) -> Mapping[str, str]:
        """What git needs in its environment to reach the forge."""
        return {}

    @property
    def starts_no_checks(self) -> bool:
        """Whether what we push there sets off no workflow."""
        return False

    def fetch_identity(self) -> Actor | None:
        """Return who we are there, or None if that cannot be said."""
        return None

    def fetch_reach(self, installation: str) -> InstallationReach | None:
        """Return what an installation of our app reaches; `ServiceError`.

        None where there are no installations.
        """
        return None

    def list_reached(self) -> Iterable[ReachedAccount]:
        """Return the accounts where our app is installed, if any; `ServiceError`."""
        return ()

    def find_hooks(self, url: str, repos: Iterable[RepoRef]) -> Iterable[Hook]:
        """Return the webhooks that bring us deliveries to `url`, as far as known."""
        return ()

    def open_routes(self, host: PluginHost) -> PluginRoutes: ...

    def close(self) -> None:
        """Let go of what it holds open."""
        return


class TicketMoves(Value):
    """The status a ticket is brought to, by its name; empty: it stays where it is."""

    on_start: str = ""
    on_pull: str = ""
    on_merge: str = ""


class SetupStep(Value):
    """What somebody does so that a service works with us; `link` opens the page there.

    `link_title` is what the link is called. What `is_last` comes after the settings.
    """

    text: str
    link: str = ""
    link_title: str = ""
    is_last: bool = False


class ServiceProfile(Value):
    """What other code may know of a service, as it is set up here.

    `account_host` tells apart the accounts of several such services, and `web_url` is
    where people find it. With `can_sign_in` people have a way to prove who they are.
    `mention` and `label` are what calls us there, empty where that is as it is on the
    forge. `repositories` are those that the administrator has given to places there,
    `repositories_setting` is where. `addresses` are what must be reached, each with the
    file of authorities to trust, which is the setting `authorities_setting`; with
    `needs_address` it has to find us too: at the `webhook_url`, if a relay takes in
    what it sends, or else at our own address. One that `is_own_server` may do so in a
    private network. Where there are tickets, their place begins with `ticket_host`,
    `ticket_url` has an `{id}`, and `ticket_moves` says where they go. What is on the
    `private_host` is not for everybody. A forge has `forms` of its own for names and
    addresses. Its commits are ours by `mail_domain`; with `signs_commits` it makes them
    itself, and `commit_key` signs the others.
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
    authorities_setting: str = ""
    needs_address: bool = False
    is_own_server: bool = False
    webhook_url: str = ""
    ticket_host: str = ""
    ticket_url: str = ""
    ticket_moves: TicketMoves = TicketMoves()
    private_host: str = ""
    forms: ForgeForms = USUAL_FORMS

    def find_address_problem(self, public_url: str) -> AddressProblem | None:
        """Return why its webhooks cannot arrive, None if they may."""
        problem = find_address_problem(
            public_url, self.web_url, sender_is_own=self.is_own_server
        )
        if not self.webhook_url or problem in {
            AddressProblem.MISSING,
            AddressProblem.PLACEHOLDER,
        }:
            return problem
        return find_address_problem(
            self.webhook_url, self.web_url, sender_is_own=self.is_own_server
        )


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
    def trackers(self) -> tuple[ServiceProfile, ...]:
        """Return the services that have tickets and are configured."""
        return tuple(one for one in self.chats.values() if one.ticket_host)

    def ticket_moves_in(self, thread: ThreadRef) -> TicketMoves:
        """Return where a ticket goes; without a service of its own it stays."""
        found = self.chats.get(thread.service)
        return found.ticket_moves if found else TicketMoves()

    @property
    def mapped_repositories(self) -> tuple[str, ...]:
        """Return all that the administrator has given to places, each once."""
        named = (
            repo for one in self.chats.values() for repo in one.repositories.values()
        )
        return tuple(dict.fromkeys(filter(None, named)))

    def _chat_of(self, thread: ThreadRef) -> ServiceProfile:
        return self.chats.get(thread.service, self.forge)


@dataclass(frozen=True)
class AppOffer:
    """What a browser sends to the service at `address`, which makes an app of it.

    `permissions` are its own, by their names: a level, and what they are for.
    """

    address: str
    manifest: str
    permissions: Mapping[str, tuple[str, str]]


class RegisteredApp(Value):
    """An app that was made for us, what calls it, and where people install it."""

    id: str
    slug: str
    mention: str
    install_url: str


class AppSetup(Protocol):
    """How an app of ours is made at a service where none is configured.

    A browser begins at our `/setup/NAME` of the service, is sent to the service with
    what is offered, and comes back to `/setup/NAME/done`.
    """

    @property
    def alternative(self) -> str:
        """The variables that can be set instead."""
        ...

    def fetch_settings(self) -> Settings | None:
        """Return the settings with the app that was made, None before there is one."""
        ...

    def offer(self, public_url: str, organization: str, state: str) -> AppOffer | None:
        """Return what describes our app; None if that is no organization's name."""
        ...

    def register(self, code: str) -> RegisteredApp:
        """Exchange the code that came back for the app, and keep it; `ServiceError`."""
        ...


class WebhookProbe(Value):
    """A delivery that is signed and means nothing, to see who holds the secret."""

    headers: Mapping[str, str]
    body: bytes
    setting: str


@dataclass(frozen=True)
class TokenSource:
    """Where people keep a token of their own for the forge on `host`.

    The `variables` are tried in this order, and then `command`, whose output is the
    token once somebody has used the command `log_in`. `add_to` returns settings that
    have it. Only the command line looks here: a service has an account of its own.
    """

    host: str
    variables: tuple[str, ...]
    command: tuple[str, ...]
    log_in: str
    add_to: Callable[[Settings, SecretStr], Settings]


@dataclass(frozen=True)
class CiEntry:
    """The CI of a forge, in whose jobs the `variable` is `true`.

    `load` returns its `core.ci.system.CiSystem`, which nothing but a job imports.
    """

    variable: str
    load: Callable[[], Any]


ConnectChat = Callable[[Settings, SecretVault, Clock], ChatConnection]
ConnectForge = Callable[[Settings, SecretVault, Clock], ForgeConnection]


def _no_steps(_settings: Settings) -> tuple[SetupStep, ...]:
    """Return that there is nothing to do at a service beforehand."""
    return ()


def _nothing_to_say(_settings: Settings) -> SettingsReview:
    return SettingsReview()


@dataclass(frozen=True)
class Plugin:
    """One service: with `connect_forge` if it is a forge, else with `connect_chat`.

    Its `section` of the settings has its name, and `review_settings` judges it.

    Without `make_accounts` nobody can sign in with it. `installation_secret` names what
    is kept for an installation of our app, and `host_word` begins the name of the place
    where somebody is, such as `workspace`. `fetch_time` asks what time it is there, and
    `make_probe` returns None while no secret signs deliveries. With `make_setup` our
    app can be made there when the service starts for the first time, and
    `complete_settings` adds what is known of an app only there, such as its name. The
    token source is where the user of the command line may have a token of their own,
    and the `address_setting` says on which host a forge is. `first_settings` are those
    with which somebody begins, between the `setup_steps` at the service itself. With
    a `ci` its jobs can use us there.
    """

    name: str
    title: str
    describe: Callable[[Settings], ServiceProfile]
    section: type[SettingsSection] | None = None
    review_settings: Callable[[Settings], SettingsReview] = _nothing_to_say
    connect_chat: ConnectChat | None = None
    connect_forge: ConnectForge | None = None
    make_accounts: Callable[[Settings, Clock], ForgeAccounts] | None = None
    installation_secret: Callable[[str], SecretName] | None = None
    host_word: str = ""
    checks: tuple[DoctorCheck, ...] = ()
    fetch_time: Callable[[Settings, Clock], datetime | None] | None = None
    make_probe: Callable[[Settings], WebhookProbe | None] | None = None
    make_setup: Callable[[Settings, SecretVault, Clock], AppSetup] | None = None
    complete_settings: Callable[[Settings, SecretVault, Clock], Settings] | None = None
    find_token_source: Callable[[Settings], TokenSource] | None = None
    address_setting: str = ""
    first_settings: tuple[str, ...] = ()
    setup_steps: Callable[[Settings], tuple[SetupStep, ...]] = _no_steps
    ci: CiEntry | None = None


def import_later(target: str) -> Callable[..., Any]:
    """Return a function that is imported, as `module:name`, when it is first called."""
    module, _, name = target.partition(":")

    def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as it is passed on
        return getattr(import_module(module), name)(*arguments, **named)

    return call
