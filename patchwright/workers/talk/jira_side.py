"""Jira: its deliveries, and our own look for what none of them brought."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from patchwright.core.channel import Board
from patchwright.core.clock import Clock
from patchwright.core.settings.jira import JiraSettings
from patchwright.core.settings.model import Settings
from patchwright.core.types.people import Actor
from patchwright.integrations.jira.adapter import Jira, connect_jira
from patchwright.integrations.jira.receiver import ID_HEADER
from patchwright.workers.intake.polling import Polling
from patchwright.workers.queue.periodic import repeating
from patchwright.workers.store.hook_marks import HookMarks
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.talk.compose import Talking
from patchwright.workers.talk.jira_ear import JiraEar, LateReceiver
from patchwright.workers.talk.sides import MAX_BODY_BYTES, Doors, Edge
from patchwright.workers.web.receiver import Entrance, by_header


@dataclass(frozen=True)
class JiraSide:
    """A `Side`."""

    jira: Jira
    settings: JiraSettings

    @property
    def board(self) -> Board:
        return self.jira.channel

    def name_person(self, actor: Actor) -> Actor:
        """Return them as they are: Jira's deliveries tell people's names."""
        return actor

    def is_at_home(self, actor: Actor) -> bool:  # noqa: ARG002 - there is one site
        return True

    def close(self) -> None:
        self.jira.close()

    def open_doors(self, talking: Talking, edge: Edge) -> Doors:
        ear = JiraEar(self.settings, self.jira.fetch_identity)
        return Doors(
            entrance=self._entrance(ear),
            companions=(ear, *self._polling(ear, talking, edge)),
        )

    def _entrance(self, ear: JiraEar) -> Entrance | None:
        """Return the door, None where deliveries are not signed."""
        secrets = self.settings.webhook_secret
        if not secrets:
            return None
        return Entrance(
            receiver=LateReceiver(secrets, ear),
            identify=by_header(ID_HEADER),
            max_body_bytes=MAX_BODY_BYTES,
            signature_header="x-hub-signature",
        )

    def _polling(
        self, ear: JiraEar, talking: Talking, edge: Edge
    ) -> Iterator[AbstractContextManager[None]]:
        marks, projects = HookMarks(talking.database), self.settings.projects

        def look() -> None:
            if not ear.is_ready:
                return
            polling = Polling(
                ear.listening(),
                lambda since: self.jira.search_updated(since, projects),
                edge.intake.submit,
                marks,
                talking.clock,
            )
            polling()

        if self.settings.poll_s:
            yield repeating(look, self.settings.poll_s)


def connect(settings: Settings, _secrets: SecretStore, clock: Clock) -> JiraSide:
    return JiraSide(connect_jira(settings.jira, clock), settings.jira)
