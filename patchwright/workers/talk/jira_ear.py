"""Listen in Jira, but not before it has told who we are there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from patchwright.core.settings.jira import JiraSettings
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import ParsedWebhook
from patchwright.integrations.jira.listening import SERVICE, JiraTriggerRules
from patchwright.integrations.jira.receiver import JiraReceiver
from patchwright.workers.talk.trying import BackgroundLookup


class JiraTriggerRulesLookup(BackgroundLookup[JiraTriggerRules]):
    """Knows what counts as asking, once Jira has told who we are there.

    Whoever does not know their own name does not know their own words either, and might
    answer them for ever. A Jira that answers is heard from the beginning.
    """

    def __init__(
        self, settings: JiraSettings, fetch_identity: Callable[[], Actor]
    ) -> None:
        super().__init__(SERVICE, lambda: _listening_as(settings, fetch_identity()))

    def listening(self) -> JiraTriggerRules:
        """Return what counts as asking; raises `NotReadyError`."""
        return self.known()


def _listening_as(jira: JiraSettings, own: Actor) -> JiraTriggerRules:
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
    ear: JiraTriggerRulesLookup

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        return JiraReceiver(self.secrets, self.ear.listening()).read(headers, body)
