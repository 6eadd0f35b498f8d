"""GitLab, put together from the settings: connection, deliveries, polling, accounts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import structlog

from patchwright.core.plugin import ForgeConnection, PeriodicTask, PluginRoutes
from patchwright.core.plugin_host import PluginHost, SecretVault
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import ParsedWebhook
from patchwright.core.webhook import WebhookSource, by_header
from patchwright.integrations.gitlab.adapter import GitLab
from patchwright.integrations.gitlab.auth import OwnUser
from patchwright.integrations.gitlab.channel import GitLabChannel
from patchwright.integrations.gitlab.configured import connect_gitlab, trust_for_git
from patchwright.integrations.gitlab.deliveries import (
    IDEMPOTENCY_HEADER,
    GitLabHook,
    find_hook,
)
from patchwright.integrations.gitlab.forge import GitLabForge
from patchwright.integrations.gitlab.polling import GitLabPolling
from patchwright.integrations.gitlab.settings import (
    SERVICE,
    GitLabSettings,
    read_signing_key,
)
from patchwright.integrations.gitlab.sign_in import GitLabAccounts
from patchwright.integrations.gitlab.webhooks.reader import (
    SIGNATURE_HEADER,
    TOKEN_HEADER,
    GitLabReceiver,
)
from patchwright.integrations.gitlab.webhooks.triggers import GitLabTriggerRules
from patchwright.integrations.http.retry import BackgroundLookup

# There are several signatures while a signing token is changed. A secret is any text.
_SIGNATURE: Final = re.compile(r"v1,[A-Za-z0-9+/=]{44}(?: v1,[A-Za-z0-9+/=]{44}){0,9}")
_TOKEN: Final = re.compile(r"[^\r\n]{1,1000}")

log = structlog.get_logger(__name__)


class GitLabTriggerRulesLookup(BackgroundLookup[GitLabTriggerRules]):
    """Knows what counts as a request, after GitLab has answered which user the bot is.

    Without its own name the bot cannot recognise its own notes, and might answer them
    for ever. If GitLab answers at once, deliveries are read from the start.
    """

    def __init__(self, settings: GitLabSettings, gitlab: GitLab) -> None:
        self._gitlab = gitlab
        super().__init__(
            SERVICE, lambda: _trigger_rules_for(settings, gitlab.api.own_user)
        )

    def _follow(self) -> None:
        try:
            missing = self._gitlab.fetch_missing()
        except ServiceError as error:
            log.warning("permissions_unknown", reason=error.reason, error=str(error))
            return
        for line in missing:
            log.warning("permission_missing", missing=line)


def _trigger_rules_for(gitlab: GitLabSettings, own: OwnUser) -> GitLabTriggerRules:
    return GitLabTriggerRules(
        mention=gitlab.mention,
        label=gitlab.label,
        own_id=own.id,
        own_login=own.username,
    )


@dataclass(frozen=True)
class DeferredGitLabReceiver:
    """Refuses what comes too early, so that it is sent again."""

    settings: GitLabSettings
    rules: GitLabTriggerRulesLookup
    clock: Clock

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises `NotReadyError` where it must be sent again."""
        receiver = GitLabReceiver(
            self.settings.webhook_secret,
            tuple(map(read_signing_key, self.settings.webhook_signing_key)),
            self.rules.known(),
            self.clock.now,
        )
        return receiver.read(headers, body)


@dataclass(frozen=True)
class ConnectedGitLab(ForgeConnection):
    """A `ForgeConnection`."""

    gitlab: GitLab
    settings: GitLabSettings
    clock: Clock

    @property
    def forge(self) -> GitLabForge:
        return self.gitlab.forge

    @property
    def channel(self) -> GitLabChannel:
        return self.gitlab.channel

    @property
    def reviews(self) -> GitLabChannel:
        return self.gitlab.channel

    @property
    def git_environment(self) -> Mapping[str, str]:
        return trust_for_git(self.settings)

    def fetch_identity(self) -> Actor:
        return self.gitlab.fetch_identity()

    def find_hooks(self, url: str, repos: Iterable[RepoRef]) -> Iterator[GitLabHook]:
        """Yield the projects' webhooks that call `url`, where we may look at them."""
        for repo in repos:
            if hook := find_hook(self.gitlab.api, repo, url):
                yield hook

    def open_routes(self, host: PluginHost) -> PluginRoutes:
        if not self.settings.is_configured:
            return PluginRoutes()
        rules = GitLabTriggerRulesLookup(self.settings, self.gitlab)
        return PluginRoutes(
            webhook_source=self._webhook_source(rules, host),
            background_tasks=(rules,),
            periodic_tasks=tuple(self._polling(rules, host)),
        )

    def close(self) -> None:
        self.gitlab.close()

    def _webhook_source(
        self, rules: GitLabTriggerRulesLookup, host: PluginHost
    ) -> WebhookSource:
        is_signed = bool(self.settings.webhook_signing_key)
        return WebhookSource(
            receiver=DeferredGitLabReceiver(self.settings, rules, host.clock),
            # Older servers name none. Their `X-Gitlab-Event-UUID` will not do: all that
            # comes of one request has the same.
            identify=by_header(IDEMPOTENCY_HEADER),
            max_body_bytes=host.max_body_bytes,
            signature_header=SIGNATURE_HEADER if is_signed else TOKEN_HEADER,
            signature_form=_SIGNATURE if is_signed else _TOKEN,
            # All but the token itself.
            kept_headers=("x-gitlab-event", "x-gitlab-webhook", IDEMPOTENCY_HEADER),
        )

    def _polling(
        self, rules: GitLabTriggerRulesLookup, host: PluginHost
    ) -> Iterator[PeriodicTask]:
        def look() -> None:
            if not rules.is_ready:
                return
            polling = GitLabPolling(
                self.gitlab.api, rules.known(), host.submit, host.positions, host.clock
            )
            polling()

        if self.settings.poll_seconds:
            yield PeriodicTask(look, self.settings.poll_seconds)


def make_accounts(settings: Settings, clock: Clock) -> GitLabAccounts:
    return GitLabAccounts(GitLabSettings.of(settings), clock)


def connect(settings: Settings, _secrets: SecretVault, clock: Clock) -> ConnectedGitLab:
    gitlab = GitLabSettings.of(settings)
    return ConnectedGitLab(connect_gitlab(gitlab, clock), gitlab, clock)
