"""Check GitHub: identity, permissions, webhook, deliveries and clock."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.doctor import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    result_of_error,
    skipped,
    warning,
)
from patchwright.core.plugin import DeliveryAttempt, WebhookProbe
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import (
    AuthenticationError,
    NotFoundError,
)
from patchwright.integrations.github.adapter import (
    GitHub,
    InstallationStatus,
    RateLimit,
    TokenStatus,
    fetch_app_rate_limit,
    fetch_server_time,
    fetch_token_status,
    list_installations,
)
from patchwright.integrations.github.app import WEBHOOK_PATH
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.github.configured import (
    connect_github,
    make_github_connection,
)
from patchwright.integrations.github.deliveries import GitHubHook, HookConfig
from patchwright.integrations.github.settings import HOW_TO_CONFIGURE, GitHubSettings
from patchwright.integrations.github.webhooks.triggers import SERVICE
from patchwright.integrations.http.signatures import sign_sha256

NO_GITHUB = failed(
    "GitHub is not configured, and there is no App yet",
    "run patchwright serve, and open the link in its log (`setup_needed`); or "
    f"{HOW_TO_CONFIGURE}",
)
NO_TOKEN = skipped(
    "no token: `resolve` works on repositories of this machine, not on issues by URL"
)

NO_WEBHOOK_VISIBLE = skipped(
    "this token cannot read the webhook of any configured repository"
)


def fetch_time(settings: Settings, clock: Clock) -> datetime | None:
    return fetch_server_time(make_github_connection(GitHubSettings.of(settings)), clock)


def make_probe(settings: Settings) -> WebhookProbe | None:
    """Return a delivery that names no event.

    Whoever holds the secret calls it malformed, and stores nothing of it.
    """
    secrets, body = GitHubSettings.of(settings).webhook_secret, b"{}"
    if not secrets:
        return None
    signature = sign_sha256(body, secrets[0].get_secret_value())
    headers = {"Content-Type": "application/json", "X-Hub-Signature-256": signature}
    return WebhookProbe(headers=headers, body=body, setting="github.webhook_secret")


def find_webhooks(context: CheckContext, github: GitHub) -> tuple[GitHubHook, ...]:
    """Return the App's webhook, or the repositories' webhooks for this service."""
    address = _deliveries_url(context)
    repos = () if github.app else context.find_repositories(SERVICE)
    return tuple(github.find_hooks(address, repos))


def _deliveries_url(context: CheckContext) -> str:
    """Return where webhooks must be sent to, empty while that is not known."""
    public_url = context.public_url
    here = public_url + WEBHOOK_PATH if public_url else ""
    return GitHubSettings.of(context.settings).webhook_url or here


@contextmanager
def connected_github(context: CheckContext) -> Iterator[GitHub]:
    """Provide GitHub with the service's own credential."""
    cache = MemoryTokenCache()
    with closing(
        connect_github(GitHubSettings.of(context.settings), cache, context.clock)
    ) as github:
        yield github


_EXPIRES_SOON: Final = timedelta(days=14)
_LOW_ALLOWANCE: Final = 0.1
_FIX_APP_KEY: Final = (
    "github.private_key must be a key of the App github.app_id, and github.api_url "
    "the address of its GitHub: make a new key on the App's page"
)
_FIX_ACCESS: Final = "set github.token to a new token: see docs/github.md"


def check_github(context: CheckContext) -> CheckResult:
    if not GitHubSettings.of(context.settings).is_configured:
        return NO_GITHUB if context.is_set_up else NO_TOKEN
    has_app = bool(GitHubSettings.of(context.settings).app_id)
    with connected_github(context) as github:
        try:
            return combine(_examine_identity(context, github))
        except (AuthenticationError, NotFoundError) as error:
            return result_of_error(error, _FIX_APP_KEY if has_app else _FIX_ACCESS)


def _examine_identity(context: CheckContext, github: GitHub) -> Iterator[CheckResult]:
    identity = github.fetch_identity()
    name = identity.login if identity else "a token whose user is unknown"
    connection = make_github_connection(GitHubSettings.of(context.settings))
    if github.app is None:
        yield ok(name)
        yield from _judge_token(context, GitHubSettings.of(context.settings))
        return
    seen = tuple(list_installations(github.app, connection, context.clock))
    yield from judge_installations(
        name, seen, GitHubSettings.of(context.settings).web_url
    )
    yield from judge_allowance(fetch_app_rate_limit(github.app))


def _judge_token(
    context: CheckContext, settings: GitHubSettings
) -> Iterator[CheckResult]:
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
            yield warning(
                f"no repository in {one.account}", f"add repositories: {one.url}"
            )


def judge_expiry(standing: TokenStatus, now: datetime) -> Iterator[CheckResult]:
    if standing.expires_at is None:
        return
    left = standing.expires_at - now
    words = f"the token expires on {standing.expires_at:%d %B %Y}"
    yield warning(words, _FIX_ACCESS) if left < _EXPIRES_SOON else ok(words)


def judge_allowance(left: RateLimit | None) -> Iterator[CheckResult]:
    if left is None:
        return
    words = f"{left.remaining} of {left.limit} requests left this hour"
    if left.remaining < _LOW_ALLOWANCE * left.limit:
        yield warning(
            words,
            f"wait until {left.reset_at:%H:%M} UTC; check who else uses this token",
        )
    else:
        yield ok(words)


_FIX_APP_PERMISSION = (
    "add it on the App's page (Permissions & events), and let the owners accept it"
)
_FIX_MISSING_PERMISSION = "make a token that has it: see docs/github.md"


def check_permissions(context: CheckContext) -> CheckResult:
    if not GitHubSettings.of(context.settings).is_configured:
        return skipped("GitHub is not configured")
    with connected_github(context) as github:
        missing = github.fetch_missing()
        is_app = github.app is not None
    if missing:
        page = _FIX_APP_PERMISSION if is_app else _FIX_MISSING_PERMISSION
        words = f"{count_noun(len(missing), 'thing')} missing, the first: {missing[0]}"
        return failed(words, "\n".join(f"{line}: {page}" for line in missing))
    if is_app:
        return ok("all needed permissions and all events")
    return ok("none missing, as far as GitHub shows for a token")


_FIX_NO_WEBHOOK = (
    "enable *Active* under *Webhook* on the App's page, and set its address"
)


def check_webhook(context: CheckContext) -> CheckResult:
    if not GitHubSettings.of(context.settings).is_configured:
        return skipped("GitHub is not configured")
    with connected_github(context) as github:
        hooks = find_webhooks(context, github)
        if github.app is None:
            return judge_repository_webhooks(hooks)
        try:
            config = hooks[0].fetch_config()
        except NotFoundError as error:
            return result_of_error(error, _FIX_NO_WEBHOOK)
    return judge_webhook(config, _deliveries_url(context))


def judge_repository_webhooks(hooks: Sequence[GitHubHook]) -> CheckResult:
    """Judge the webhooks of repositories: many of them may be hidden from a token."""
    if not hooks:
        return NO_WEBHOOK_VISIBLE
    count = count_noun(len(hooks), "repository", "repositories")
    return ok(f"the webhook of {count} points here")


def judge_webhook(config: HookConfig, wanted: str) -> CheckResult:
    if not config.url:
        return failed("the App has no webhook", _FIX_NO_WEBHOOK)
    return combine(
        (ok(f"it points to {config.url}"), *_webhook_problems(config, wanted))
    )


def _webhook_problems(config: HookConfig, wanted: str) -> Iterator[CheckResult]:
    if wanted and config.url.rstrip("/") != wanted:
        yield failed(
            f"it points to {config.url}",
            f"set the webhook's address on the App's page to {wanted}, or correct "
            "server.public_url",
        )
    if not config.checks_certificate:
        yield warning(
            "GitHub does not check the certificate of this service",
            "enable *SSL verification* on the App's page",
        )


_ARRIVED_STATUS: Final = range(200, 300)
_FIX_UNREACHABLE: Final = (
    "GitHub cannot reach the webhook's address: see the check `public-url`"
)
_FIX_BY_STATUS: Final[Mapping[int, str]] = {
    401: "the secret on the App's page is not github.webhook_secret: set both to the "
    "same new value",
    404: "the address on the App's page is not the address of this service: see the "
    "check `github-webhook`",
    413: "server.max_body_bytes or a proxy in front refuses large webhooks: raise its "
    "limit",
}


def check_deliveries(context: CheckContext) -> CheckResult:
    if not GitHubSettings.of(context.settings).is_configured:
        return skipped("GitHub is not configured")
    with connected_github(context) as github:
        hooks = find_webhooks(context, github)
        if not hooks:
            return NO_WEBHOOK_VISIBLE
        sent = [attempt for hook in hooks for attempt in hook.list_newest()]
    sent.sort(key=lambda attempt: attempt.delivered_at, reverse=True)
    return judge_deliveries(sent)


def judge_deliveries(attempts: Sequence[DeliveryAttempt]) -> CheckResult:
    """Judge the newest attempts, newest first."""
    bad = [one for one in attempts if one.status_code not in _ARRIVED_STATUS]
    if not attempts:
        return ok("none was sent recently")
    if not bad:
        return ok(f"the newest {len(attempts)} arrived")
    newest = bad[0]
    words = f"{len(bad)} of the newest {len(attempts)} did not arrive"
    text = f"{words}; the last one with {newest.status_code}, on {_when(newest)}"
    fix = _FIX_BY_STATUS.get(newest.status_code, _FIX_UNREACHABLE)
    return failed(text, fix) if newest is attempts[0] else warning(text, fix)


def _when(attempt: DeliveryAttempt) -> str:
    return f"{attempt.delivered_at:%d %B at %H:%M} UTC"
