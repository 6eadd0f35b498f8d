"""Find out who asked in a chat or ticket, and which repository it is about."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

from patchwright.core.errors import (
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.text.escape import inline_code, mention_link, without_mentions
from patchwright.core.types.base import Value
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import service_outcome
from patchwright.resolver.admission import with_forge_accounts
from patchwright.resolver.effects import Invite, OpenThread
from patchwright.resolver.repository import (
    RememberScope,
    RepositoryCandidates,
    RepositoryChoice,
    choose_repository,
    is_answer,
    mapped_repository,
    read_answer,
    repository_of_tickets,
)
from patchwright.resolver.repository_references import (
    References,
    ReferenceScope,
    find_references,
)
from patchwright.resolver.visibility import Question
from patchwright.workers.run.permissions import make_access_check
from patchwright.workers.run.plan import EarlyResult, tell_requester
from patchwright.workers.run.services import ChatServices, RunServices
from patchwright.workers.store.choices import DEFAULT_REPOSITORY, place_scope
from patchwright.workers.store.job import Job, Lease
from patchwright.workers.store.requests import JoinedRequest


def name_people(services: RunServices, trigger: Trigger) -> Trigger:
    thread = trigger.thread
    if not isinstance(thread, TalkThread):
        return trigger
    return services.channel.tracker(thread).name_people(trigger)


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
        talk, places = self.services.chat, self.places
        tracker = self.services.directory.tracker
        request = find_references(
            [trigger.title, trigger.body, trigger.request], places
        )
        answers = tuple(find_references([one], places) for one in self.said)
        return RepositoryCandidates(
            request=request,
            answers=answers,
            ticket=repository_of_tickets(
                self.thread,
                request.threads,
                tracker.repositories if tracker else {},
                places,
            ),
            place=mapped_repository(
                self.thread,
                self.services.directory.repositories_in(self.thread),
                places,
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


QUESTION_ARTIFACT: Final = "asked"
NOT_LINKED: Final = "not-linked"
_INVITED: Final = "Waiting until it is known who asks."
_UNNAMED_BOT: Final = "Bots may ask only if `accounts.map` names them."
_NO_WAY: Final = (
    "I do not know who you are where the code lives, and there is no page here to show "
    "it. An administrator can add you to `accounts.map`."
)


_ELSEWHERE: Final = (
    "This thread is about {place}, and has its one pull request there. Please ask for "
    "{meant} in a thread of its own."
)


class AskedQuestion(Value):
    """What a job has asked before it began, and what was said until then."""

    text: str
    up_to: int


class RepositoryResolver:
    def __init__(self, services: RunServices, job: Job, lease: Lease) -> None:
        self._services, self._job, self._lease = services, job, lease
        self._talk: ChatServices = services.chat
        self._joined = services.stores.requests.joined(job.id)

    def resolve(self, thread: TalkThread) -> Trigger | EarlyResult:
        """Return the request with what was found out, or why it waits."""
        known = self._find_request(self._start_thread(thread))
        if known is None:
            return self._unknown()
        found = self._find_repository(thread, known)
        if isinstance(found, EarlyResult):
            return found
        named = name_people(self._services, known)
        placed = named.replace(repo=found)
        if placed != self._job.trigger:
            self._talk.conversation_links.settle(self._lease, placed)
        return placed

    def _find_repository(
        self, thread: TalkThread, known: Trigger
    ) -> RepoRef | EarlyResult:
        """Return where the work is, or why it waits.

        A conversation has one pull request, so that it stays where it is.
        """
        place = known.place or self._known_repository()
        if place is not None:
            return self._elsewhere(known, place) or place
        said = tuple(one.request for one in self.answers())
        choosing = RepositoryChooser(
            self._services, thread, known.asker, said, self._places
        )
        found = choosing.choose(known)
        if not isinstance(found, Question):
            return found.repo
        asked = self.ask(found)
        if asked.effects and self._talk.needs_renewal(known.asker):
            return replace(asked, effects=(*asked.effects, Invite(renews=True)))
        return asked

    def _elsewhere(self, known: Trigger, place: RepoRef) -> EarlyResult | None:
        """Refuse to take work that is meant for another repository to this one."""
        meant = find_references([known.request], self._places).meant
        if not meant or place in meant:
            return None
        text = _ELSEWHERE.format(
            place=inline_code(place.full_name), meant=inline_code(meant[0].full_name)
        )
        refused = service_outcome(OutcomeKind.REFUSED, "other-repository", text)
        return EarlyResult(refused, (tell_requester(known.thread, text),), self._up_to)

    def ask(self, asked: Question) -> EarlyResult:
        """Wait for an answer; what was asked already is not asked again for nothing."""
        outcome = service_outcome(
            OutcomeKind.NEEDS_INPUT, asked.reason, asked.text, waits=True
        )
        up_to = self._up_to
        if self._was_asked(asked.text):
            return EarlyResult(outcome, (), up_to)
        self._keep_asked(asked.text)
        told = tell_requester(self._job.trigger.thread, asked.text, asked.offers)
        return EarlyResult(outcome, (told,), up_to)

    def answers(self) -> list[Trigger]:
        """Return what the requester has said since, oldest first."""
        own = self._job.trigger.actor
        return [one.trigger for one in self._joined if _is_by(one, own)]

    def answered_up_to(self) -> int:
        """Return the last event of those answers that nothing else came before."""
        last, trigger = 0, self._job.trigger
        if not isinstance(trigger.thread, TalkThread):
            return last
        for one in self._joined:
            is_own = _is_by(one, trigger.actor)
            if not (is_own and is_answer(one.trigger.request, self._places)):
                break
            last = one.event_id
        return last

    def _find_request(self, first: Trigger) -> Trigger | None:
        """Return the first request of somebody who is known to the forge.

        Whoever came before them may never show who they are, and is not waited for.
        """
        if known := with_forge_accounts(first, self._talk.find_person):
            return known
        for one in self._joined:
            known = with_forge_accounts(one.trigger, self._talk.find_person)
            if known is not None and known.kind is not TriggerKind.REPLY:
                self._prefer(one, first)
                return known
        return None

    def _prefer(self, one: JoinedRequest, first: Trigger) -> None:
        """Have the job be about that request; the first one joins it instead."""
        self._talk.conversation_links.swap(self._lease, one, first)
        self._job = self._job.replace(trigger=one.trigger)
        self._joined = self._services.stores.requests.joined(self._job.id)

    def _was_asked(self, text: str) -> bool:
        """Tell whether the requester knows the question, and has not called us since.

        What others say is no reason to bother them once more.
        """
        own = self._job.trigger.actor
        stores = self._services.stores
        kept = stores.outcomes.load_artifact(self._job.id, QUESTION_ARTIFACT)
        if kept is None:
            return False
        before = AskedQuestion.model_validate_json(kept)
        calls = any(
            one.event_id > before.up_to
            and one.trigger.kind is not TriggerKind.REPLY
            and _is_by(one, own)
            for one in self._joined
        )
        return before.text == text and not calls

    def _keep_asked(self, text: str) -> None:
        kept = AskedQuestion(text=text, up_to=self._up_to).model_dump_json().encode()
        self._services.stores.outcomes.keep_artifact(
            self._lease, QUESTION_ARTIFACT, kept
        )

    @property
    def _up_to(self) -> int:
        """The last event that was taken notice of."""
        return self._joined[-1].event_id if self._joined else 0

    def _start_thread(self, thread: TalkThread) -> Trigger:
        """Return the request with a thread that is there to be answered in."""
        trigger = self._job.trigger
        if thread.has_begun:
            return trigger
        new = self._open(thread)
        conversation_links, now = (
            self._talk.conversation_links,
            self._services.clock.now(),
        )
        conversation_links.replace(self._lease, thread, new, now)
        begun = trigger.replace(thread=new)
        conversation_links.settle(self._lease, begun)
        return begun

    def _open(self, thread: TalkThread) -> TalkThread:
        """Open it; if only the answer was lost, it is found to be there already."""
        trigger = self._job.trigger
        tracker, text = self._services.channel.tracker(thread), _opening(trigger)

        def open_thread() -> str:
            return tracker.open_thread(trigger, text).model_dump_json()

        publish = partial(
            self._services.live.publish, OpenThread(thread=thread), open_thread
        )
        try:
            opened = publish()
        except ServiceUnavailableError:
            opened = publish()
        return TalkThread.model_validate_json(opened)

    @cached_property
    def _places(self) -> ReferenceScope:
        return self._talk.find_places()

    def _unknown(self) -> EarlyResult:
        """Wait until the person has shown who they are; or say that there is no way.

        A bot does not link: without a word, so that two do not keep each other busy.
        """
        if self._job.trigger.actor.is_bot:
            unnamed = service_outcome(
                OutcomeKind.REFUSED, "bot-not-named", _UNNAMED_BOT
            )
            return EarlyResult(unnamed, ())
        if self._talk.can_invite:
            outcome = service_outcome(
                OutcomeKind.NEEDS_INPUT, NOT_LINKED, _INVITED, waits=True
            )
            effects = () if self._was_asked(_INVITED) else (Invite(),)
            self._keep_asked(_INVITED)
            return EarlyResult(outcome, effects, self._up_to)
        refused = service_outcome(OutcomeKind.REFUSED, NOT_LINKED, _NO_WAY)
        return EarlyResult(
            refused, (tell_requester(self._job.trigger.thread, _NO_WAY),)
        )

    def _known_repository(self) -> RepoRef | None:
        """Return where the conversation's work is already; it has one pull request."""
        threads = self._services.stores.threads
        return threads.repository_of(self._job.conversation_id)


def _is_by(one: JoinedRequest, own: Actor) -> bool:
    return one.trigger.actor.is_same(own)


def _opening(trigger: Trigger) -> str:
    """Show what was asked where nobody could see it."""
    who = mention_link(trigger.actor.login, trigger.actor.external_id)
    request = without_mentions(trigger.request)
    quoted = "\n".join(f"> {line}" for line in request.splitlines())
    return f"{who} asks:\n\n{quoted}" if quoted else f"{who} asks."
