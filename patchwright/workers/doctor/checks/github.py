"""Check who we are on GitHub, where we are installed, and what is left of our limit."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.errors import AuthenticationError, NotFoundError
from patchwright.core.settings.github import GitHubSettings
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.standing import (
    Allowance,
    InstallationSeen,
    TokenStanding,
    fetch_app_allowance,
    fetch_token_standing,
    list_installations,
)
from patchwright.resolver.messages.facts import counted
from patchwright.workers.connections import connection_to
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.connected import NO_GITHUB, github_of
from patchwright.workers.doctor.errors import explained
from patchwright.workers.doctor.finding import Finding, combine, failed, ok, warning

_SOON: Final = timedelta(days=14)
_LITTLE: Final = 0.1
_PAIR: Final = (
    "github.private_key must be a key of the App github.app_id, and github.api_url the "
    "GitHub it is on: make a new key on the App's page"
)
_RENEW: Final = "set github.token to a new one: docs/github.md says which"


def check(context: Case) -> Finding:
    if not context.settings.github.is_configured:
        return NO_GITHUB
    has_app = bool(context.settings.github.app_id)
    with github_of(context) as github:
        try:
            return combine(_examine(context, github))
        except (AuthenticationError, NotFoundError) as error:
            return explained(error, _PAIR if has_app else _RENEW)


def _examine(context: Case, github: GitHub) -> Iterator[Finding]:
    identity = github.fetch_identity()
    name = identity.login if identity else "a token that cannot say whose it is"
    connection = connection_to(context.settings.github)
    if github.app is None:
        yield ok(name)
        yield from _judge_token(context, context.settings.github)
        return
    seen = tuple(list_installations(github.app, connection, context.clock))
    yield from judge_installations(name, seen, context.settings.github.web_url)
    yield from judge_allowance(fetch_app_allowance(github.app))


def _judge_token(context: Case, settings: GitHubSettings) -> Iterator[Finding]:
    if settings.token is None:
        return
    connection = connection_to(settings)
    standing = fetch_token_standing(connection, settings.token, context.clock)
    yield from judge_end(standing, context.clock.now())
    yield from judge_allowance(standing.allowance)


def judge_installations(
    name: str, seen: Sequence[InstallationSeen], web_url: str
) -> Iterator[Finding]:
    reached = sum(one.repositories or 0 for one in seen)
    accounts = counted(len(seen), "account")
    count = counted(reached, "repository", "repositories")
    yield ok(f"{name}, in {accounts}, {count}")
    if not seen:
        page = f"{web_url}/apps/{name.removesuffix('[bot]')}/installations/new"
        yield failed(f"{name} is not installed anywhere", f"install it: {page}")
    for one in seen:
        if one.repositories is None:
            yield warning(f"suspended in {one.account}", f"unsuspend it: {one.url}")
        elif one.repositories == 0:
            yield warning(f"no repository in {one.account}", f"add some: {one.url}")


def judge_end(standing: TokenStanding, now: datetime) -> Iterator[Finding]:
    if standing.expires_at is None:
        return
    left = standing.expires_at - now
    words = f"the token ends on {standing.expires_at:%d %B %Y}"
    yield warning(words, _RENEW) if left < _SOON else ok(words)


def judge_allowance(left: Allowance | None) -> Iterator[Finding]:
    if left is None:
        return
    words = f"{left.remaining} of {left.limit} requests left this hour"
    if left.remaining < _LITTLE * left.limit:
        yield warning(
            words,
            f"wait until {left.reset_at:%H:%M} UTC; look who else uses this token",
        )
    else:
        yield ok(words)
