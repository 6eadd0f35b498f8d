"""Check GitLab: whose token it is, what it may do, the webhooks, and the clock."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
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
from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import (
    AuthenticationError,
    NotFoundError,
    ServiceError,
)
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.gitlab.adapter import GitLab
from patchwright.integrations.gitlab.auth import NEEDED_SCOPE, TokenDetails
from patchwright.integrations.gitlab.configured import (
    connect_gitlab,
    make_gitlab_connection,
)
from patchwright.integrations.gitlab.deliveries import (
    NO_ANSWER,
    GitLabHook,
    find_hook,
)
from patchwright.integrations.gitlab.errors import translate_errors
from patchwright.integrations.gitlab.settings import (
    HOW_TO_CONFIGURE,
    SERVICE,
    GitLabSettings,
    read_signing_key,
)
from patchwright.integrations.http.signatures import sign_standard_webhook

WEBHOOK_PATH: Final = f"/api/integration/{SERVICE}/events"
NOT_CONFIGURED: Final = skipped("GitLab is not configured")
NO_TOKEN: Final = skipped(
    f"no token: `resolve` works on repositories of this machine; {HOW_TO_CONFIGURE}"
)
NO_WEBHOOK_VISIBLE: Final = skipped(
    "this token cannot read the webhooks of any known project"
)


def fetch_time(settings: Settings, clock: Clock) -> datetime | None:
    """Return GitLab's time; whoever asks for it may be nobody."""
    connection = make_gitlab_connection(GitLabSettings.of(settings), clock)
    with connection.open_client("") as client, translate_errors():
        address = connection.addresses.api_url
        answer = client.session.get(f"{address}/projects?per_page=1&simple=true")
    try:
        return parsedate_to_datetime(answer.headers.get("date", "")).astimezone(UTC)
    except ValueError:
        return None


def make_probe(settings: Settings) -> WebhookProbe | None:
    """Return a delivery that names no event.

    Whoever holds the secret calls it malformed, and stores nothing of it.
    """
    gitlab, body = GitLabSettings.of(settings), b"{}"
    if gitlab.webhook_signing_key:
        proof = _signature(read_signing_key(gitlab.webhook_signing_key[0]), body)
        setting = "gitlab.webhook_signing_key"
    elif gitlab.webhook_secret:
        proof = {"X-Gitlab-Token": gitlab.webhook_secret[0].get_secret_value()}
        setting = "gitlab.webhook_secret"
    else:
        return None
    headers = {"Content-Type": "application/json", **proof}
    return WebhookProbe(headers=headers, body=body, setting=setting)


def _signature(key: bytes, body: bytes) -> Mapping[str, str]:
    """Sign as GitLab does, with the time of this machine, which `serve` has too."""
    timestamp = str(int(SystemClock().now().timestamp()))
    return {
        "webhook-id": "probe",
        "webhook-timestamp": timestamp,
        "webhook-signature": sign_standard_webhook("probe", timestamp, body, key),
    }


@contextmanager
def connected_gitlab(context: CheckContext) -> Iterator[GitLab]:
    """Provide GitLab with the service's own credential."""
    settings = GitLabSettings.of(context.settings)
    with closing(connect_gitlab(settings, context.clock)) as gitlab:
        yield gitlab


_EXPIRES_SOON: Final = timedelta(days=14)
_FIX_ACCESS: Final = "set gitlab.token to a new token: see docs/gitlab.md"


def check_gitlab(context: CheckContext) -> CheckResult:
    """Check whose token it is, what its scopes are, and when it ends."""
    if not GitLabSettings.of(context.settings).is_configured:
        return NOT_CONFIGURED if context.is_set_up else NO_TOKEN
    with connected_gitlab(context) as gitlab:
        try:
            own = gitlab.api.own_user
            details = gitlab.api.token.fetch_details()
        except AuthenticationError as error:
            return result_of_error(error, _FIX_ACCESS)
    return combine((ok(own.username), *judge_token(details, context.clock.now())))


def judge_token(details: TokenDetails | None, now: datetime) -> Iterator[CheckResult]:
    if details is None:
        return
    if NEEDED_SCOPE not in details.scopes:
        yield failed(
            f"the token has not the scope `{NEEDED_SCOPE}`, but "
            f"{', '.join(details.scopes) or 'none'}",
            _FIX_ACCESS,
        )
    if details.expires_at is None:
        return
    # It ends at midnight UTC, when that day begins.
    left = datetime.combine(details.expires_at, datetime.min.time(), UTC) - now
    words = f"the token expires on {details.expires_at:%d %B %Y}"
    yield warning(words, _FIX_ACCESS) if left < _EXPIRES_SOON else ok(words)


def check_permissions(context: CheckContext) -> CheckResult:
    """Check what the bot's user may do in the projects that are known."""
    if not GitLabSettings.of(context.settings).is_configured:
        return NOT_CONFIGURED
    repos = context.find_repositories(SERVICE)
    if not repos:
        return skipped("no project is known yet")
    with connected_gitlab(context) as gitlab:
        own = gitlab.fetch_identity()
        found = [
            one for repo in repos for one in _permission_problems(gitlab, repo, own)
        ]
    count = count_noun(len(repos), "project")
    return combine((ok(f"Developer or more in {count}"), *found))


def _permission_problems(
    gitlab: GitLab, repo: RepoRef, own: Actor
) -> Iterator[CheckResult]:
    try:
        permission = gitlab.forge.fetch_permission(repo, own)
    except ServiceError as error:
        yield result_of_error(error)
        return
    if not permission.allows(Permission.WRITE):
        yield failed(
            f"{repo.full_name}: {own.login} cannot push",
            f"make {own.login} a Developer of {repo.full_name}, or of a group above it",
        )


# What brings the requests, and what else is needed, as GitLab's form calls it.
_EVENTS: Final[Mapping[str, str]] = {
    "issues_events": "Issue events",
    "confidential_issues_events": "Confidential issue events",
    "note_events": "Comments",
    "confidential_note_events": "Confidential comments",
    "merge_requests_events": "Merge request events",
    "pipeline_events": "Pipeline events",
    "push_events": "Push events",
}
_WORKS: Final = frozenset({"", "executable"})


def check_webhook(context: CheckContext) -> CheckResult:
    """Check the webhooks of the projects that are known; a group's are not seen."""
    if not GitLabSettings.of(context.settings).is_configured:
        return NOT_CONFIGURED
    if not context.public_url:
        return skipped("server.public_url is not set")
    hooks = find_webhooks(context)
    if not hooks:
        return NO_WEBHOOK_VISIBLE
    count = count_noun(len(hooks), "project")
    found = [one for hook in hooks for one in judge_webhook(hook)]
    return combine((ok(f"the webhook of {count} points here"), *found))


def find_webhooks(context: CheckContext) -> tuple[GitLabHook, ...]:
    """Return the webhooks for this service, as far as the token may see them."""
    address = context.public_url + WEBHOOK_PATH
    repos = context.find_repositories(SERVICE)
    with connected_gitlab(context) as gitlab:
        found = (find_hook(gitlab.api, repo, address) for repo in repos)
        return tuple(one for one in found if one is not None)


def judge_webhook(hook: GitLabHook) -> Iterator[CheckResult]:
    name, answer = hook.repo.full_name, hook.answer
    page = f"{hook.api.addresses.repository_url(name)}/-/hooks"
    if answer.alert_status not in _WORKS:
        yield failed(
            f"{name}: GitLab has switched the webhook off after failures",
            f"see the check `gitlab-deliveries`, then send a test event: {page}",
        )
    missing = [words for key, words in _EVENTS.items() if not getattr(answer, key)]
    if missing:
        yield warning(
            f"{name}: the webhook does not send {', '.join(missing)}",
            f"enable them: {page}",
        )
    if not answer.enable_ssl_verification:
        yield warning(
            f"{name}: GitLab does not check the certificate of this service",
            f"enable *SSL verification*: {page}",
        )


_ARRIVED: Final = range(200, 300)
_FIX_UNREACHABLE: Final = (
    "GitLab cannot reach the webhook's address: see the check `public-url`"
)
_FIX_BY_STATUS: Final[Mapping[int, str]] = {
    401: "the secret token of the webhook is not gitlab.webhook_secret, or its signing "
    "token not gitlab.webhook_signing_key: set both to the same new value",
    404: "the address of the webhook is not the address of this service: see the check "
    "`gitlab-webhook`",
    413: "server.max_body_bytes or a proxy in front refuses large webhooks: raise its "
    "limit",
}


def check_deliveries(context: CheckContext) -> CheckResult:
    if not GitLabSettings.of(context.settings).is_configured:
        return NOT_CONFIGURED
    address = context.public_url + WEBHOOK_PATH
    with connected_gitlab(context) as gitlab:
        repos = context.find_repositories(SERVICE) if context.public_url else ()
        hooks = [find_hook(gitlab.api, repo, address) for repo in repos]
        if not any(hooks):
            return NO_WEBHOOK_VISIBLE
        try:
            sent = [one for hook in hooks if hook for one in hook.list_newest()]
        except NotFoundError:
            return skipped(
                "this GitLab tells nothing of deliveries: it is older than 17.3"
            )
    sent.sort(key=lambda attempt: attempt.delivered_at, reverse=True)
    return judge_deliveries(sent)


def judge_deliveries(attempts: Sequence[DeliveryAttempt]) -> CheckResult:
    """Judge the newest attempts, newest first."""
    bad = [one for one in attempts if one.status_code not in _ARRIVED]
    if not attempts:
        return ok("none was sent recently")
    if not bad:
        return ok(f"the newest {len(attempts)} arrived")
    newest = bad[0]
    how = "no answer" if newest.status_code == NO_ANSWER else str(newest.status_code)
    when = f"{newest.delivered_at:%d %B at %H:%M} UTC"
    text = (
        f"{len(bad)} of the newest {len(attempts)} did not arrive; the last one with "
        f"{how}, on {when}"
    )
    fix = _FIX_BY_STATUS.get(newest.status_code, _FIX_UNREACHABLE)
    return failed(text, fix) if newest is attempts[0] else warning(text, fix)
