"""Check that GitHub's webhook leads here."""

from collections.abc import Iterator, Sequence

from patchwright.core.errors import NotFoundError
from patchwright.integrations.github.deliveries import Hook, HookConfig
from patchwright.integrations.github.manifest import WEBHOOK_PATH
from patchwright.resolver.messages.facts import counted
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.connected import NO_HOOK_SEEN, github_of, hooks_of
from patchwright.workers.doctor.errors import explained
from patchwright.workers.doctor.finding import (
    Finding,
    combine,
    failed,
    ok,
    skipped,
    warning,
)

_NO_HOOK = "tick *Active* under *Webhook* on the App's page, and set its address"


def check(context: Case) -> Finding:
    if not context.settings.github.is_configured:
        return skipped("GitHub is not configured")
    with github_of(context) as github:
        hooks = hooks_of(context, github)
        if github.app is None:
            return judge_seen(hooks)
        try:
            config = hooks[0].fetch_config()
        except NotFoundError as error:
            return explained(error, _NO_HOOK)
    return judge(config, context.public_url)


def judge_seen(hooks: Sequence[Hook]) -> Finding:
    """Judge the webhooks of repositories: many of them may be hidden from a token."""
    if not hooks:
        return NO_HOOK_SEEN
    count = counted(len(hooks), "repository", "repositories")
    return ok(f"the webhook of {count} leads here")


def judge(config: HookConfig, public_url: str) -> Finding:
    if not config.url:
        return failed("the App has no webhook", _NO_HOOK)
    return combine((ok(f"leads to {config.url}"), *_wrong(config, public_url)))


def _wrong(config: HookConfig, public_url: str) -> Iterator[Finding]:
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
