"""How we stand with one GitHub: its clock, our limit, where we are installed."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from github import Auth
from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.errors import NotFoundError
from patchwright.core.types.base import Value
from patchwright.integrations.github.auth import AppTokens
from patchwright.integrations.github.connection import LARGEST_PAGE, GitHubConnection
from patchwright.integrations.github.errors import translate_errors

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


class _Reachable(Value):
    total_count: int


def fetch_server_time(connection: GitHubConnection, clock: Clock) -> datetime | None:
    """Return what time it is there; whoever asks need not be known."""
    with closing(connection.open_client(None)) as client, translate_errors(clock):
        _, headers, _ = client.requester.requestJson("GET", _LIMIT)
    return _date(headers.get("date", ""))


def fetch_token_status(
    connection: GitHubConnection, token: SecretStr, clock: Clock
) -> TokenStatus:
    """Ask what GitHub tells of a token. Raises the errors of `core.errors`."""
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
    """Yield them, at most a page; raises the errors of `core.errors`."""
    _, found = app.call("GET", "/app/installations", {"per_page": str(LARGEST_PAGE)})
    with translate_errors(clock):
        installations = [_InstallationAnswer.model_validate(one) for one in found]
    for one in installations:
        is_active = one.suspended_at is None
        yield InstallationStatus(
            account=one.account.login,
            url=one.html_url,
            repositories=_count(app, one.id, connection, clock) if is_active else None,
        )


def _count(
    app: AppTokens, installation: int, connection: GitHubConnection, clock: Clock
) -> int:
    """Return how many repositories an installation reaches."""
    path = f"/app/installations/{installation}/access_tokens"
    _, minted = app.call("POST", path, {})
    with translate_errors(clock):
        token = _Minted.model_validate(minted).token
        _, found = _get(connection, token, clock, "/installation/repositories")
        return _Reachable.model_validate(found).total_count


def _get(
    connection: GitHubConnection, token: SecretStr, clock: Clock, path: str
) -> tuple[Mapping[str, Any], Any]:
    auth = Auth.Token(token.get_secret_value())
    with closing(connection.open_client(auth)) as client, translate_errors(clock):
        return client.requester.requestJsonAndCheck("GET", path)


def _rate_limit(headers: Mapping[str, Any]) -> RateLimit | None:
    """Read what every answer tells; a server of one's own may limit nothing."""
    told = [str(headers.get(f"x-ratelimit-{name}", "")) for name in _PARTS]
    if not all(one.isdecimal() for one in told):
        return None
    limit, remaining, reset = map(int, told)
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
