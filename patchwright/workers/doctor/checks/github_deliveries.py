"""Check what became of the newest deliveries of GitHub."""

from collections.abc import Mapping, Sequence
from typing import Final

from patchwright.integrations.github.deliveries import DeliveryAttempt
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.connected import NO_WEBHOOK_VISIBLE, connected_github, find_webhooks
from patchwright.workers.doctor.finding import CheckResult, failed, ok, skipped, warning

_ARRIVED_STATUS: Final = range(200, 300)
_FIX_UNREACHABLE: Final = "GitHub cannot reach the webhook's address: look at `public-url`"
_FIX_BY_STATUS: Final[Mapping[int, str]] = {
    401: "the secret on the App's page is not github.webhook_secret: set both anew",
    404: "the address on the App's page is not this service's: see `github-webhook`",
    413: "server.max_body_bytes, or a proxy in front, refuses large deliveries",
}


def check_github_deliveries(context: CheckContext) -> CheckResult:
    if not context.settings.github.is_configured:
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
        return ok("none was sent lately")
    if not bad:
        return ok(f"the newest {len(attempts)} arrived")
    newest = bad[0]
    words = f"{len(bad)} of the newest {len(attempts)} did not arrive"
    told = f"{words}; the last one with {newest.status_code}, on {_when(newest)}"
    fix = _FIX_BY_STATUS.get(newest.status_code, _FIX_UNREACHABLE)
    return failed(told, fix) if newest is attempts[0] else warning(told, fix)


def _when(attempt: DeliveryAttempt) -> str:
    return f"{attempt.delivered_at:%d %B at %H:%M} UTC"
