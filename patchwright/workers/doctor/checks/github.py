"""Check who we are on GitHub, where we are installed, and what is left of our limit."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.errors import AuthenticationError, NotFoundError
from patchwright.core.settings.github import GitHubSettings
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.standing import (
    RateLimit,
    InstallationStatus,
    TokenStatus,
    fetch_app_rate_limit,
    fetch_token_status,
    list_installations,
)
from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.connections import make_github_connection
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.connected import NO_GITHUB, connected_github
from patchwright.workers.doctor.errors import result_of_error
from patchwright.workers.doctor.finding import CheckResult, combine, failed, ok, warning

_EXPIRES_SOON: Final = timedelta(days=14)
_LOW_ALLOWANCE: Final = 0.1
_FIX_APP_KEY: Final = (
    "github.private_key must be a key of the App github.app_id, and github.api_url the "
    "GitHub it is on: make a new key on the App's page"
)
_FIX_TOKEN: Final = "set github.token to a new one: docs/github.md says which"


def check_github(context: CheckContext) -> CheckResult:
    if not context.settings.github.is_configured:
        return NO_GITHUB
    has_app = bool(context.settings.github.app_id)
    with connected_github(context) as github:
        try:
            return combine(_examine_identity(context, github))
        except (AuthenticationError, NotFoundError) as error:
            return result_of_error(error, _FIX_APP_KEY if has_app else _FIX_TOKEN)


def _examine_identity(context: CheckContext, github: GitHub) -> Iterator[CheckResult]:
    identity = github.fetch_identity()
    name = identity.login if identity else "a token that cannot say whose it is"
    connection = make_github_connection(context.settings.github)
    if github.app is None:
        yield ok(name)
        yield from _judge_token(context, context.settings.github)
        return
    seen = tuple(list_installations(github.app, connection, context.clock))
    yield from judge_installations(name, seen, context.settings.github.web_url)
    yield from judge_allowance(fetch_app_rate_limit(github.app))


def _judge_token(context: CheckContext, settings: GitHubSettings) -> Iterator[CheckResult]:
    if settings.token is None:
        return
    connection = make_github_connection(settings)
    standing = fetch_token_status(connection, settings.token, context.clock)
    yield from judge_expiry(standing, context.clock.now())
    yield from judge_allowance(standing.rate_limit)


def judge_installations(
    name: str, seen: Sequence[InstallationStatus], web_url: str
) -> Iterator[CheckResult]:
    reached = sum(one.repositories or 0 for one in seen)
    accounts = count_noun(len(seen), "account")
    count = count_noun(reached, "repository", "repositories")
    yield ok(f"{name}, in {accounts}, {count}")
    if not seen:
        page = f"{web_url}/apps/{name.removesuffix('[bot]')}/installations/new"
        yield failed(f"{name} is not installed anywhere", f"install it: {page}")
    for one in seen:
        if one.repositories is None:
            yield warning(f"suspended in {one.account}", f"unsuspend it: {one.url}")
        elif one.repositories == 0:
            yield warning(f"no repository in {one.account}", f"add some: {one.url}")


def judge_expiry(standing: TokenStatus, now: datetime) -> Iterator[CheckResult]:
    if standing.expires_at is None:
        return
    left = standing.expires_at - now
    words = f"the token ends on {standing.expires_at:%d %B %Y}"
    yield warning(words, _FIX_TOKEN) if left < _EXPIRES_SOON else ok(words)


def judge_allowance(left: RateLimit | None) -> Iterator[CheckResult]:
    if left is None:
        return
    words = f"{left.remaining} of {left.limit} requests left this hour"
    if left.remaining < _LOW_ALLOWANCE * left.limit:
        yield warning(
            words,
            f"wait until {left.reset_at:%H:%M} UTC; look who else uses this token",
        )
    else:
        yield ok(words)
