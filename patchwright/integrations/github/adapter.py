"""Connect to one GitHub, and tell its clock, our limit and our installations."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import quote

from github import Auth
from pydantic import SecretStr

from patchwright.core.plugin import InstallationReach, ReachedAccount
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.errors import NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.auth import AppTokens, StaticToken, TokenCache
from patchwright.integrations.github.channel import GitHubChannel
from patchwright.integrations.github.client import GitHubClient
from patchwright.integrations.github.connection import (
    LARGEST_PAGE,
    Addresses,
    GitHubConnection,
)
from patchwright.integrations.github.deliveries import GitHubHook, find_hook
from patchwright.integrations.github.errors import translate_errors
from patchwright.integrations.github.forge import GitHubForge
from patchwright.integrations.github.webhooks.triggers import SERVICE

_LIMIT: Final = "/rate_limit"
_PARTS: Final = ("limit", "remaining", "reset")
# When a token ends that has an end.
# https://docs.github.com/en/organizations/managing-programmatic-access-to-your-organization/reviewing-and-revoking-personal-access-tokens-in-your-organization
_ENDS_AT: Final = "github-authentication-token-expiration"


class RateLimit(Value):
    """What is left of the requests of an hour, and when it is filled up again."""

    limit: int
    remaining: int
    reset_at: datetime


class TokenStatus(Value):
    """A given token: when it ends, and its allowance, where GitHub tells them."""

    expires_at: datetime | None = None
    rate_limit: RateLimit | None = None


class InstallationStatus(Value):
    """The App in one account; `repositories` is None where it is suspended."""

    account: str
    url: str
    repositories: int | None = None


class _AccountAnswer(Value):
    login: str


class _InstallationAnswer(Value):
    id: int
    account: _AccountAnswer
    html_url: str
    suspended_at: datetime | None = None


class _Minted(Value):
    token: SecretStr


class _ReachedRepository(Value):
    full_name: str


class _Reachable(Value):
    total_count: int
    repositories: tuple[_ReachedRepository, ...]


def fetch_server_time(connection: GitHubConnection, clock: Clock) -> datetime | None:
    """Return GitHub's time; this needs no valid credential."""
    with closing(connection.open_client(None)) as client, translate_errors(clock):
        _, headers, _ = client.requester.requestJson("GET", _LIMIT)
    return _date(headers.get("date", ""))


def fetch_token_status(
    connection: GitHubConnection, token: SecretStr, clock: Clock
) -> TokenStatus:
    """Ask what GitHub tells of a token. Raises the errors of `core.types.errors`."""
    try:
        headers, _ = _get(connection, token, clock, _LIMIT)
    except NotFoundError:
        # A server of one's own that limits nothing has no such page.
        return TokenStatus()
    return TokenStatus(
        expires_at=_end(str(headers.get(_ENDS_AT, ""))), rate_limit=_rate_limit(headers)
    )


def fetch_app_rate_limit(app: AppTokens) -> RateLimit | None:
    """Return the App's own, not those of its installations."""
    headers, _ = app.call("GET", "/app", {})
    return _rate_limit(headers)


def list_installations(
    app: AppTokens, connection: GitHubConnection, clock: Clock
) -> Iterator[InstallationStatus]:
    """Yield them, at most a page; raises the errors of `core.types.errors`."""
    for one in list_reached(app, connection, clock):
        yield InstallationStatus(
            account=one.account,
            url=one.url,
            repositories=None if one.is_suspended else one.count,
        )


def list_reached(
    app: AppTokens, connection: GitHubConnection, clock: Clock
) -> Iterator[ReachedAccount]:
    """Yield who installed the App, with repositories; each is at most a page."""
    _, found = app.call("GET", "/app/installations", {"per_page": str(LARGEST_PAGE)})
    with translate_errors(clock):
        installations = [_InstallationAnswer.model_validate(one) for one in found]
    for one in installations:
        about = ReachedAccount(account=one.account.login, url=one.html_url)
        if one.suspended_at is not None:
            yield about.replace(is_suspended=True)
            continue
        reachable = _fetch_reachable(app, str(one.id), connection, clock)
        names = tuple(repo.full_name for repo in reachable.repositories)
        yield about.replace(count=reachable.total_count, repositories=names)


def fetch_reach(
    app: AppTokens, installation: str, connection: GitHubConnection, clock: Clock
) -> InstallationReach:
    """Return which repositories an installation of the App reaches."""
    reachable = _fetch_reachable(app, installation, connection, clock)
    first = reachable.repositories[0].full_name if reachable.repositories else ""
    return InstallationReach(count=reachable.total_count, first=first)


def _fetch_reachable(
    app: AppTokens, installation: str, connection: GitHubConnection, clock: Clock
) -> _Reachable:
    path = f"/app/installations/{quote(installation, safe='')}/access_tokens"
    _, minted = app.call("POST", path, {})
    page = f"/installation/repositories?per_page={LARGEST_PAGE}"
    with translate_errors(clock):
        token = _Minted.model_validate(minted).token
        _, found = _get(connection, token, clock, page)
        return _Reachable.model_validate(found)


def _get(
    connection: GitHubConnection, token: SecretStr, clock: Clock, path: str
) -> tuple[Mapping[str, Any], Any]:
    auth = Auth.Token(token.get_secret_value())
    with closing(connection.open_client(auth)) as client, translate_errors(clock):
        return client.requester.requestJsonAndCheck("GET", path)


def _rate_limit(headers: Mapping[str, Any]) -> RateLimit | None:
    """Read what every answer tells; a server of one's own may limit nothing."""
    values = [str(headers.get(f"x-ratelimit-{name}", "")) for name in _PARTS]
    if not all(one.isdecimal() for one in values):
        return None
    limit, remaining, reset = map(int, values)
    return RateLimit(
        limit=limit,
        remaining=remaining,
        reset_at=datetime.fromtimestamp(reset, UTC),
    )


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except ValueError:
        return None


def _end(text: str) -> datetime | None:
    """Read `2027-01-31 12:00:00 UTC`, or the same with `+0200` for its end."""
    try:
        ends_at = datetime.fromisoformat(text.replace(" UTC", "+00:00"))
    except ValueError:
        return None
    return ends_at if ends_at.tzinfo else ends_at.replace(tzinfo=UTC)


# How the token of a workflow's run begins. What it pushes starts no other workflow.
# https://docs.github.com/en/actions/concepts/security/github_token
_OF_A_WORKFLOW: Final = "ghs_"


@dataclass(frozen=True, slots=True)
class GitHub:
    """One GitHub, as a channel and as a forge; close it when done."""

    api: GitHubClient
    channel: GitHubChannel
    forge: GitHubForge
    app: AppTokens | None = None
    starts_no_checks: bool = False

    def find_hooks(self, url: str, repos: Iterable[RepoRef]) -> Iterator[GitHubHook]:
        """Yield the webhooks that bring us deliveries.

        That is the App's, or else those of the repositories that call `url`.
        """
        if self.app is not None:
            yield GitHubHook("/app/hook", self.app.call)
            return
        for repo in repos:
            if hook := find_hook(self.api, repo, url):
                yield hook

    def fetch_identity(self) -> Actor | None:
        """Return who we are there, or None if the token cannot say."""
        login = self.api.tokens.fetch_login()
        if not login:
            return None
        return Actor(service=SERVICE, login=login, is_bot=login.endswith("[bot]"))

    def fetch_missing(self) -> tuple[str, ...]:
        """Return a line for everything that we need there and were not given."""
        return self.api.tokens.fetch_missing()

    def fetch_reach(self, installation: str, clock: Clock) -> InstallationReach | None:
        """Return what an installation of our App reaches; None without an App."""
        if self.app is None:
            return None
        return fetch_reach(self.app, installation, self.api.connection, clock)

    def list_reached(self, clock: Clock) -> tuple[ReachedAccount, ...]:
        """Return who installed our App; nobody without an App."""
        if self.app is None:
            return ()
        return tuple(list_reached(self.app, self.api.connection, clock))

    def close(self) -> None:
        self.api.close()


def connect_app(
    addresses: Addresses,
    app_id: str,
    private_key: SecretStr,
    *,
    cache: TokenCache,
    clock: Clock,
    pause_s: float = 1.0,
    ca_bundle: str = "",
) -> GitHub:
    """Act as a GitHub App. `pause_s` is the least time between two writes."""
    connection = GitHubConnection(addresses, pause_s, ca_bundle)
    tokens = AppTokens(
        app_id, private_key, connection=connection, cache=cache, clock=clock
    )
    api = GitHubClient(connection=connection, tokens=tokens, clock=clock)
    return GitHub(api, GitHubChannel(api), GitHubForge(api), tokens)


def connect_token(
    addresses: Addresses,
    token: SecretStr,
    *,
    clock: Clock,
    pause_s: float = 1.0,
    ca_bundle: str = "",
) -> GitHub:
    """Act with a token of a person, a machine user or a workflow."""
    connection = GitHubConnection(addresses, pause_s, ca_bundle)
    tokens = StaticToken(token, connection, clock)
    api = GitHubClient(connection=connection, tokens=tokens, clock=clock)
    return GitHub(
        api,
        GitHubChannel(api),
        GitHubForge(api),
        starts_no_checks=token.get_secret_value().startswith(_OF_A_WORKFLOW),
    )
