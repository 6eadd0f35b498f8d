"""What every request in Jira has: which ticket, who, and what to call it."""

from dataclasses import dataclass

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.jira.listening import SERVICE, JiraTriggerRules
from patchwright.integrations.jira.people import actor_of
from patchwright.integrations.jira.reading.payloads import JiraIssuePayload, JiraUserPayload
from patchwright.integrations.jira.reading.words import read_markdown


@dataclass(frozen=True, slots=True)
class TicketContext:
    """A ticket, and how we listen there. `user` sent the delivery, if it says so."""

    issue: JiraIssuePayload
    listening: JiraTriggerRules
    user: JiraUserPayload | None = None

    @property
    def project(self) -> str:
        return self.issue.key.rpartition("-")[0].upper()

    @property
    def is_mapped(self) -> bool:
        return self.project in self.listening.projects

    @property
    def ref(self) -> TalkThread:
        return TalkThread(
            service=SERVICE,
            place=f"{self.listening.host}/{self.project}",
            kind=ThreadKind.TICKET,
            id=self.issue.key,
            lasting_id=self.issue.id,
        )

    def is_own(self, *people: JiraUserPayload | None) -> bool:
        """Tell whether one of them, or who sent the delivery, is us."""
        own_ids = self.listening.own_ids
        return any(
            not own_ids.isdisjoint(person.ids)
            for person in (*people, self.user)
            if person is not None
        )

    def trigger(
        self,
        name: str,
        kind: TriggerKind,
        asker: JiraUserPayload,
        *,
        request: str = "",
        text: str = "",
        post_id: str = "",
        others: tuple[JiraUserPayload | None, ...] = (),
        audience: str = "",
    ) -> Trigger:
        """Make a trigger; `name` is what the request is called on its site.

        A ticket changes its key when it is moved to another project, so that names are
        made of the ids that stay. `audience` is who may read the answer, empty for all
        that may read the ticket.
        """
        fields = self.issue.fields
        return Trigger(
            key=f"{SERVICE}:{self.listening.host}:{name}",
            kind=kind,
            actor=actor_of(asker, self.listening.host),
            thread=self.ref.replace(audience=audience),
            request=request,
            title=fields.summary,
            body=read_markdown(fields.description),
            text=text,
            post_id=post_id,
            others=self._others(asker, others),
            installation=self.listening.host,
        )

    def _others(
        self, asker: JiraUserPayload, others: tuple[JiraUserPayload | None, ...]
    ) -> tuple[Actor, ...]:
        actors = {
            actor_of(person, self.listening.host): None
            for person in (*others, self.user)
            if person is not None and person.ids.isdisjoint(asker.ids)
        }
        return tuple(actors)
