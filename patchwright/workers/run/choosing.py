"""Choose the repository of a request that came from where no code lives."""

from dataclasses import dataclass

from patchwright.core.errors import (
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.settings.model import Settings
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.placing.answers import RememberScope, read_answer
from patchwright.resolver.placing.asking import Question
from patchwright.resolver.placing.choose import (
    RepositoryChoice,
    RepositoryCandidates,
    choose_repository,
    mapped_repository,
    repository_of_tickets,
)
from patchwright.resolver.placing.places import ReferenceScope
from patchwright.resolver.placing.references import References, find_references
from patchwright.workers.run.permissions import make_access_check
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.choices import DEFAULT_REPOSITORY, place_scope


@dataclass(frozen=True)
class RepositoryChooser:
    """Chooses for `person`, who asks in `thread` and has `said` so much since."""

    services: RunServices
    thread: TalkThread
    person: Actor
    said: tuple[str, ...]
    places: ReferenceScope

    def choose(self, trigger: Trigger) -> RepositoryChoice | Question:
        self._remember()
        # The whole channel may read what is asked in a ticket.
        is_chat = self.thread.kind is ThreadKind.CHAT
        offered = self.services.chat.offer_to(self.person) if is_chat else ()
        judge = make_access_check(self.person, self._permission)
        return choose_repository(self._hints(trigger), judge, offered)

    def _hints(self, trigger: Trigger) -> RepositoryCandidates:
        settings, talk, places = self.services.settings, self.services.chat, self.places
        request = find_references(
            [trigger.title, trigger.body, trigger.request], places
        )
        answers = tuple(find_references([one], places) for one in self.said)
        return RepositoryCandidates(
            request=request,
            answers=answers,
            ticket=repository_of_tickets(
                self.thread, request.threads, settings.jira.projects, places
            ),
            place=mapped_repository(
                self.thread, _mapping(settings, self.thread), places
            ),
            place_default=talk.choices.default_of(place_scope(self.thread)),
            own_default=talk.choices.default_of(talk.scope_of(self.person)),
            said=self.said[-1] if self.said and answers[-1] == References() else "",
        )

    def _remember(self) -> None:
        """Keep a choice that is meant for later requests as well."""
        talk = self.services.chat
        answer = read_answer(self.said[-1], self.places) if self.said else None
        if answer is None or answer.remember is RememberScope.NOT:
            return
        is_here = answer.remember is RememberScope.HERE
        # Who could not work there themselves must not send everybody else there.
        least = Permission.WRITE if is_here else Permission.READ
        permission = self._permission(answer.repository, self.person)
        if permission is None or not permission.allows(least):
            return
        own = talk.scope_of(self.person)
        talk.choices.put(
            place_scope(self.thread) if is_here else own,
            DEFAULT_REPOSITORY,
            str(answer.repository),
            by=own,
            now=self.services.clock.now(),
        )

    def _permission(self, repo: RepoRef, person: Actor) -> Permission | None:
        """Ask the forge; one that is away does not say no, and the run tries again."""
        try:
            return self.services.code_host.forge.fetch_permission(repo, person)
        except (RateLimitedError, ServiceUnavailableError):
            raise
        except ServiceError:
            return None


def _mapping(settings: Settings, thread: TalkThread) -> dict[str, str]:
    is_jira = thread.service == "jira"
    return settings.jira.projects if is_jira else settings.slack.channels
