"""Check that GitHub's webhook leads here."""

from collections.abc import Iterator, Sequence

from patchwright.core.errors import NotFoundError
from patchwright.integrations.github.deliveries import Hook, HookConfig
from patchwright.integrations.github.manifest import WEBHOOK_PATH
from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.connected import NO_WEBHOOK_VISIBLE, connected_github, find_webhooks
from patchwright.workers.doctor.errors import result_of_error
from patchwright.workers.doctor.finding import (
    CheckResult,
    combine,
    failed,
    ok,
    skipped,
    warning,
)

_FIX_NO_WEBHOOK = "tick *Active* under *Webhook* on the App's page, and set its address"


def check_github_webhook(context: CheckContext) -> CheckResult:
    if not context.settings.github.is_configured:
        return skipped("GitHub is not configured")
    with connected_github(context) as github:
        hooks = find_webhooks(context, github)
        if github.app is None:
            return judge_repository_webhooks(hooks)
        try:
            config = hooks[0].fetch_config()
        except NotFoundError as error:
            return result_of_error(error, _FIX_NO_WEBHOOK)
    return judge_webhook(config, context.public_url)


def judge_repository_webhooks(hooks: Sequence[Hook]) -> CheckResult:
    """Judge the webhooks of repositories: many of them may be hidden from a token."""
    if not hooks:
        return NO_WEBHOOK_VISIBLE
    count = count_noun(len(hooks), "repository", "repositories")
    return ok(f"the webhook of {count} leads here")


def judge_webhook(config: HookConfig, public_url: str) -> CheckResult:
    if not config.url:
        return failed("the App has no webhook", _FIX_NO_WEBHOOK)
    return combine((ok(f"leads to {config.url}"), *_webhook_problems(config, public_url)))


def _webhook_problems(config: HookConfig, public_url: str) -> Iterator[CheckResult]:
    wanted = public_url + WEBHOOK_PATH
    if public_url and config.url.rstrip("/") != wanted:
        yield failed(
            f"leads to {config.url}",
            f"set the webhook's address on the App's page to {wanted}, or correct "
            "server.public_url",
        )
    if not config.checks_certificate:
        yield warning(
            "GitHub does not check the certificate of this service",
            "enable *SSL verification* on the App's page",
        )
