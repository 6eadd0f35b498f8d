"""Jira: receive its deliveries, and poll for requests that none of them brought."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from pydantic import SecretStr

from patchwright.core.channel import Tracker
from patchwright.core.plugin import PeriodicTask, PluginRoutes
from patchwright.core.plugin_host import PluginHost, PollingPositions, SecretVault
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import PayloadError, ServiceError
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import ParsedWebhook
from patchwright.core.webhook import (
    MAX_BODY_BYTES,
    Delivery,
    InboxResult,
    InboxUnavailableError,
    WebhookSource,
    by_header,
    make_polled_delivery,
)
from patchwright.integrations.http.retry import BackgroundLookup
from patchwright.integrations.jira.adapter import Jira, connect_jira
from patchwright.integrations.jira.settings import JiraSettings
from patchwright.integrations.jira.webhooks.payloads import JsonObject
from patchwright.integrations.jira.webhooks.reader import ID_HEADER, JiraReceiver
from patchwright.integrations.jira.webhooks.tickets import find_requests
from patchwright.integrations.jira.webhooks.triggers import SERVICE, JiraTriggerRules


class JiraTriggerRulesLookup(BackgroundLookup[JiraTriggerRules]):
    """Knows what counts as a request, after Jira has answered which user the bot is.

    Without its own name the bot cannot recognise its own comments, and might answer
    them for ever. If Jira answers at once, deliveries are read from the start.
    """

    def __init__(
        self, settings: JiraSettings, fetch_identity: Callable[[], Actor]
    ) -> None:
        super().__init__(
            SERVICE, lambda: _trigger_rules_for(settings, fetch_identity())
        )

    def trigger_rules(self) -> JiraTriggerRules:
        """Return what counts as asking; raises `NotReadyError`."""
        return self.known()


def _trigger_rules_for(jira: JiraSettings, own: Actor) -> JiraTriggerRules:
    return JiraTriggerRules(
        host=jira.host,
        projects=frozenset(jira.projects),
        mention=jira.mention,
        label=jira.label,
        own_ids=frozenset({own.external_id}),
    )


@dataclass(frozen=True)
class DeferredJiraReceiver:
    """Refuses what comes too early, so that it is sent again."""

    secrets: Sequence[SecretStr]
    rules: JiraTriggerRulesLookup

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        return JiraReceiver(self.secrets, self.rules.trigger_rules()).read(
            headers, body
        )


# The site's clock may differ from ours, and its index of tickets is some seconds late.
POLLING_OVERLAP: Final = timedelta(minutes=3)
# What is older is given up: nobody waits for it any more.
MAX_BACK: Final = timedelta(days=3)
STORED_WITHIN_S: Final = 60.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class JiraPolling:
    """Called now and then, where there is an intake; the first look starts at now.

    `search` yields the tickets that were changed since a moment, with comments and
    changelog, those first that changed first. What comes twice of it, or was delivered
    as well, is known for what it is by the intake.
    """

    trigger_rules: JiraTriggerRules
    search: Callable[[datetime], Iterable[JsonObject]]
    submit: Callable[[Delivery], Future[InboxResult]]
    marks: PollingPositions
    clock: Clock

    def __call__(self) -> None:
        now = self.clock.now()
        source = f"{SERVICE}:{self.trigger_rules.host}"
        read_up_to = self.marks.read_up_to(source)
        if read_up_to is not None:
            now = max(read_up_to, self._look(read_up_to, now))
        self.marks.put(source, now)

    def _look(self, read_up_to: datetime, now: datetime) -> datetime:
        """Bring what is new to the intake, and return up to when that was done."""
        since = max(read_up_to, now - MAX_BACK) - POLLING_OVERLAP
        try:
            for issue in self.search(since):
                updated = self._take_in(issue, since, now)
                read_up_to = min(updated or read_up_to, now)
        except (ServiceError, InboxUnavailableError) as error:
            log.warning("not_polled", reason=error.reason, error=str(error))
            return read_up_to
        except TimeoutError:
            log.warning("not_polled", reason=InboxUnavailableError.reason)
            return read_up_to
        return now

    def _take_in(
        self, issue: JsonObject, since: datetime, now: datetime
    ) -> datetime | None:
        """Have all that is asked in a ticket stored; tell when it was last changed."""
        try:
            found = find_requests(issue, self.trigger_rules, since)
        except PayloadError as error:
            # One ticket that we do not understand must not hide the others.
            log.warning("ticket_not_read", ticket=issue.get("key"), error=str(error))
            return None
        waiting = [
            self.submit(make_polled_delivery(SERVICE, one, now))
            for one in found.triggers
        ]
        for stored in waiting:
            stored.result(STORED_WITHIN_S)
        return found.updated


@dataclass(frozen=True)
class ConnectedJira:
    """A `ChatConnection`."""

    jira: Jira
    settings: JiraSettings

    @property
    def tracker(self) -> Tracker:
        return self.jira.channel

    def name_person(self, actor: Actor) -> Actor:
        """Return them as they are: Jira's deliveries tell people's names."""
        return actor

    def is_from_own_site(self, actor: Actor) -> bool:  # noqa: ARG002 - there is one site
        return True

    def close(self) -> None:
        self.jira.close()

    def open_routes(self, host: PluginHost) -> PluginRoutes:
        rules = JiraTriggerRulesLookup(self.settings, self.jira.fetch_identity)
        return PluginRoutes(
            webhook_source=self._webhook_source(rules),
            background_tasks=(rules,),
            periodic_tasks=tuple(self._polling(rules, host)),
        )

    def _webhook_source(self, rules: JiraTriggerRulesLookup) -> WebhookSource | None:
        """Return where it delivers, None where deliveries are not signed."""
        secrets = self.settings.webhook_secret
        if not secrets:
            return None
        return WebhookSource(
            receiver=DeferredJiraReceiver(secrets, rules),
            identify=by_header(ID_HEADER),
            max_body_bytes=MAX_BODY_BYTES,
            signature_header="x-hub-signature",
            kept_headers=("x-atlassian-webhook-",),
        )

    def _polling(
        self, rules: JiraTriggerRulesLookup, host: PluginHost
    ) -> Iterator[PeriodicTask]:
        projects = self.settings.projects

        def look() -> None:
            if not rules.is_ready:
                return
            polling = JiraPolling(
                rules.trigger_rules(),
                lambda since: self.jira.search_updated(since, projects),
                host.submit,
                host.positions,
                host.clock,
            )
            polling()

        if self.settings.poll_seconds:
            yield PeriodicTask(look, self.settings.poll_seconds)


def connect(settings: Settings, _secrets: SecretVault, clock: Clock) -> ConnectedJira:
    jira = JiraSettings.of(settings)
    return ConnectedJira(connect_jira(jira, clock), jira)
