"""GitHub, put together from the settings: connection, deliveries and accounts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import structlog
from pydantic import SecretStr

from patchwright.core.plugin import InstallationReach, PluginRoutes, ReachedAccount
from patchwright.core.plugin_host import PluginHost, SecretVault
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.system.crypto import DecryptionError
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import ParsedWebhook
from patchwright.core.webhook import WebhookSource, by_header
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.auth import InstallationToken
from patchwright.integrations.github.channel import GitHubChannel
from patchwright.integrations.github.configured import (
    connect_github,
    make_github_connection,
    trust_for_git,
)
from patchwright.integrations.github.deliveries import GitHubHook
from patchwright.integrations.github.forge import GitHubForge
from patchwright.integrations.github.notices import EventConfirmation
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.github.sign_in import (
    SignIn,
    UserTokens,
    fetch_readable_repositories,
)
from patchwright.integrations.github.webhooks.reader import GitHubReceiver
from patchwright.integrations.github.webhooks.triggers import (
    SERVICE,
    GitHubTriggerRules,
)
from patchwright.integrations.http.retry import BackgroundLookup

log = structlog.get_logger(__name__)


class GitHubReceiverLookup(BackgroundLookup[GitHubReceiver]):
    """Reads deliveries after GitHub has answered which user the bot is.

    The texts of an App are a bot's, which starts nothing, so that it listens at once.
    Texts of a user must be distinguished: until that is known, the sender is asked to
    send again, and missing deliveries are fetched later.
    """

    def __init__(self, settings: GitHubSettings, github: GitHub) -> None:
        self._github = github
        unnamed = _receive_as(settings, None) if settings.app_id else None
        super().__init__(
            SERVICE, lambda: _receive_as(settings, github.fetch_identity()), unnamed
        )

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises `NotReadyError` where it must be sent again."""
        return self.known().read(headers, body)

    def _follow(self) -> None:
        try:
            missing = self._github.fetch_missing()
        except ServiceError as error:
            log.warning("permissions_unknown", reason=error.reason, error=str(error))
            return
        for line in missing:
            log.warning("permission_missing", missing=line)


def _receive_as(github: GitHubSettings, own: Actor | None) -> GitHubReceiver:
    trigger_rules = GitHubTriggerRules(
        mention=github.mention, label=github.label, own_login=own.login if own else ""
    )
    return GitHubReceiver(github.webhook_secret, trigger_rules)


@dataclass(frozen=True)
class GitHubAccounts:
    """A `ForgeAccounts`."""

    settings: GitHubSettings
    clock: Clock

    def sign_in(self, redirect_uri: str) -> SignIn:
        return SignIn(
            connection=make_github_connection(self.settings),
            client_id=self.settings.client_id,
            client_secret=self._client_secret,
            redirect_uri=redirect_uri,
            clock=self.clock,
        )

    def renew(self, refresh_token: SecretStr) -> PersonalToken:
        return self._tokens.renew(refresh_token)

    def is_valid(self, token: SecretStr) -> bool:
        return self._tokens.is_valid(token)

    def fetch_readable(self, token: SecretStr, query: str) -> tuple[str, ...]:
        connection = make_github_connection(self.settings)
        return fetch_readable_repositories(connection, token, query, clock=self.clock)

    @property
    def _tokens(self) -> UserTokens:
        return UserTokens(
            make_github_connection(self.settings),
            self.settings.client_id,
            self._client_secret,
            self.clock,
        )

    @property
    def _client_secret(self) -> SecretStr:
        return self.settings.client_secret or SecretStr("")


@dataclass(frozen=True)
class ConnectedGitHub:
    """A `ForgeConnection`."""

    github: GitHub
    settings: GitHubSettings
    accounts: GitHubAccounts

    @property
    def forge(self) -> GitHubForge:
        return self.github.forge

    @property
    def channel(self) -> GitHubChannel:
        return self.github.channel

    @property
    def reviews(self) -> GitHubChannel:
        return self.github.channel

    @property
    def git_environment(self) -> Mapping[str, str]:
        return trust_for_git(self.settings)

    @property
    def starts_no_checks(self) -> bool:
        return self.github.starts_no_checks

    def fetch_identity(self) -> Actor | None:
        return self.github.fetch_identity()

    def fetch_reach(self, installation: str) -> InstallationReach | None:
        return self.github.fetch_reach(installation, self.accounts.clock)

    def list_reached(self) -> tuple[ReachedAccount, ...]:
        return self.github.list_reached(self.accounts.clock)

    def find_hooks(self, url: str, repos: Iterable[RepoRef]) -> Iterator[GitHubHook]:
        return self.github.find_hooks(url, repos)

    def open_routes(self, host: PluginHost) -> PluginRoutes:
        if not self.settings.is_configured:
            return PluginRoutes()
        receiver = GitHubReceiverLookup(self.settings, self.github)
        confirmation = EventConfirmation(
            self.github.app,
            self.forge,
            host.find_affected,
            partial(self._consents, host),
        )
        source = WebhookSource(
            receiver=receiver,
            identify=by_header("x-github-delivery"),
            max_body_bytes=host.max_body_bytes,
            signature_header="x-hub-signature-256",
            confirm=confirmation.confirm,
            kept_headers=("x-github-",),
        )
        return PluginRoutes(webhook_source=source, background_tasks=(receiver,))

    def close(self) -> None:
        self.github.close()

    def _consents(self, host: PluginHost, person: Actor) -> bool:
        """Tell whether somebody lets us act in their name, as GitHub says."""
        token = host.find_user_token(person)
        return token is not None and self.accounts.is_valid(token)


class InstallationTokenStore:
    """A `TokenCache`. A token that cannot be read any more is created again."""

    def __init__(self, secrets: SecretVault) -> None:
        self._secrets = secrets

    def fetch(self, name: str) -> InstallationToken | None:
        try:
            stored = self._secrets.fetch(name)
        except DecryptionError:
            return None
        if stored is None:
            return None
        expires_at, _, token = stored.get_secret_value().partition(" ")
        return InstallationToken(
            token=SecretStr(token),
            expires_at=datetime.fromisoformat(expires_at).astimezone(UTC),
        )

    def put(self, name: str, token: InstallationToken) -> None:
        text = f"{token.expires_at.isoformat()} {token.token.get_secret_value()}"
        self._secrets.put(name, SecretStr(text), token.expires_at)


def make_accounts(settings: Settings, clock: Clock) -> GitHubAccounts:
    return GitHubAccounts(GitHubSettings.of(settings), clock)


def connect(settings: Settings, secrets: SecretVault, clock: Clock) -> ConnectedGitHub:
    cache = InstallationTokenStore(secrets)
    github = GitHubSettings.of(settings)
    connected = connect_github(github, cache, clock)
    return ConnectedGitHub(connected, github, GitHubAccounts(github, clock))
