"""Listen in Jira, but not before it has told who we are there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from patchwright.core.settings.jira import JiraSettings
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import Reading
from patchwright.integrations.jira.listening import SERVICE, Listening
from patchwright.integrations.jira.receiver import Receiver
from patchwright.workers.talk.trying import Ear


class JiraEar(Ear[Listening]):
    """Knows what counts as asking, once Jira has told who we are there.

    Whoever does not know their own name does not know their own words either, and might
    answer them for ever. A Jira that answers is heard from the beginning.
    """

    def __init__(
        self, settings: JiraSettings, fetch_identity: Callable[[], Actor]
    ) -> None:
        super().__init__(SERVICE, lambda: _listening_as(settings, fetch_identity()))

    def listening(self) -> Listening:
        """Return what counts as asking; raises `NotReadyError`."""
        return self.known()


def _listening_as(jira: JiraSettings, own: Actor) -> Listening:
    return Listening(
        host=jira.host,
        projects=frozenset(jira.projects),
        mention=jira.mention,
        label=jira.label,
        own_ids=frozenset({own.external_id}),
    )


@dataclass(frozen=True)
class LateReceiver:
    """Refuses what comes too early, so that it is sent again."""

    secrets: Sequence[SecretStr]
    ear: JiraEar

    def read(self, headers: Mapping[str, str], body: bytes) -> Reading:
        return Receiver(self.secrets, self.ear.listening()).read(headers, body)
