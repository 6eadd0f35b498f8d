"""Jira: its deliveries, and our own look for what none of them brought."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from patchwright.core.channel import Tracker
from patchwright.core.clock import Clock
from patchwright.core.settings.jira import JiraSettings
from patchwright.core.settings.model import Settings
from patchwright.core.types.people import Actor
from patchwright.integrations.jira.adapter import Jira, connect_jira
from patchwright.integrations.jira.receiver import ID_HEADER
from patchwright.workers.intake.polling import JiraPolling
from patchwright.workers.queue.periodic import repeat_in_background
from patchwright.workers.store.hook_marks import ReadPositions
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.talk.compose import ChatComposition
from patchwright.workers.talk.jira_ear import JiraTriggerRulesLookup, DeferredJiraReceiver
from patchwright.workers.talk.sides import MAX_BODY_BYTES, PluginRoutes, WebContext
from patchwright.workers.web.receiver import WebhookSource, by_header


@dataclass(frozen=True)
class JiraPlugin:
    """A `Side`."""

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

    def open_routes(self, talking: ChatComposition, edge: WebContext) -> PluginRoutes:
        ear = JiraTriggerRulesLookup(self.settings, self.jira.fetch_identity)
        return PluginRoutes(
            webhook_source=self._entrance(ear),
            background_tasks=(ear, *self._polling(ear, talking, edge)),
        )

    def _entrance(self, ear: JiraTriggerRulesLookup) -> WebhookSource | None:
        """Return the door, None where deliveries are not signed."""
        secrets = self.settings.webhook_secret
        if not secrets:
            return None
        return WebhookSource(
            receiver=DeferredJiraReceiver(secrets, ear),
            identify=by_header(ID_HEADER),
            max_body_bytes=MAX_BODY_BYTES,
            signature_header="x-hub-signature",
        )

    def _polling(
        self, ear: JiraTriggerRulesLookup, talking: ChatComposition, edge: WebContext
    ) -> Iterator[AbstractContextManager[None]]:
        marks, projects = ReadPositions(talking.database), self.settings.projects

        def look() -> None:
            if not ear.is_ready:
                return
            polling = JiraPolling(
                ear.listening(),
                lambda since: self.jira.search_updated(since, projects),
                edge.intake.submit,
                marks,
                talking.clock,
            )
            polling()

        if self.settings.poll_s:
            yield repeat_in_background(look, self.settings.poll_s)


def connect(settings: Settings, _secrets: SecretStore, clock: Clock) -> JiraPlugin:
    return JiraPlugin(connect_jira(settings.jira, clock), settings.jira)
