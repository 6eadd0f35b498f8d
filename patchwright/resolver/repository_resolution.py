"""Find out who asked in a chat or ticket, and which repository it is about."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from patchwright.core.text.escape import inline_code, mention_link, without_mentions
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    TalkThread,
    ThreadKind,
)
from patchwright.core.types.triggers import (
    Trigger,
    TriggerKind,
    trigger_definition,
)
from patchwright.core.types.work import service_outcome
from patchwright.resolver.access import make_access_check
from patchwright.resolver.admission import with_forge_accounts
from patchwright.resolver.publish.effects import Invite, OpenThread
from patchwright.resolver.publish.live import acknowledge
from patchwright.resolver.repository import (
    RememberScope,
    RepositoryCandidates,
    RepositoryChoice,
    choose_repository,
    mapped_repository,
    read_answer,
    repository_of_tickets,
)
from patchwright.resolver.repository_references import (
    References,
    ReferenceScope,
    find_references,
)
from patchwright.resolver.run import (
    End,
    Run,
    end_early,
    fail,
    find_scope,
    is_by,
    skipped_on_resume,
)
from patchwright.resolver.run_plan import EarlyResult, tell_requester
from patchwright.resolver.run_store import (
    DEFAULT_REPOSITORY,
    JoinedRequest,
    place_scope,
)
from patchwright.resolver.services import StepServices
from patchwright.resolver.visibility import Question


def name_people(services: StepServices, trigger: Trigger) -> Trigger:
    thread = trigger.thread
    if not isinstance(thread, TalkThread):
        return trigger
    return services.channel.tracker(thread).name_people(trigger)


@dataclass(frozen=True)
class RepositoryChooser:
    """Chooses the repository for `person`, who asks in `thread`.

    `said` are the person's later replies.
    """

    services: StepServices
    thread: TalkThread
    person: Actor
    said: tuple[str, ...]
    places: ReferenceScope

    def choose(self, trigger: Trigger) -> RepositoryChoice | Question:
        self._remember()
        # Everybody who reads a ticket can read the question.
        is_chat = self.thread.kind is ThreadKind.CHAT
        offered = self.services.chat.offer_to(self.person) if is_chat else ()
        judge = make_access_check(self.person, self._permission)
        return choose_repository(self._candidates(trigger), judge, offered)

    def _candidates(self, trigger: Trigger) -> RepositoryCandidates:
        chat_services, places = self.services.chat, self.places
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
                self.services.directory.repositories_in,
                places,
            ),
            place=self._place(),
            place_default=chat_services.choices.default_of(place_scope(self.thread)),
            own_default=chat_services.choices.default_of(
                chat_services.scope_of(self.person)
            ),
            said=self.said[-1] if self.said and answers[-1] == References() else "",
        )

    def _place(self) -> RepoRef | None:
        """Return the repository that the thread's place has, by us or by the service.

        What the service knows of this one thread says more than our own map.
        """
        tied = self.services.channel.tracker(self.thread).find_repository(self.thread)
        if tied and "://" in tied:
            found = find_references([tied], self.places).repositories
            if len(found) == 1:
                return found[0]
        elif tied:
            return self.places.repository(tied)
        mapped = self.services.directory.repositories_in(self.thread)
        return mapped_repository(self.thread, mapped, self.places)

    def _remember(self) -> None:
        """Keep a choice that is meant for later requests as well."""
        chat_services = self.services.chat
        answer = read_answer(self.said[-1], self.places) if self.said else None
        if answer is None or answer.remember is RememberScope.NOT:
            return
        is_here = answer.remember is RememberScope.HERE
        # A default for everybody may only be set by a person who may write there.
        least = Permission.WRITE if is_here else Permission.READ
        permission = self._permission(answer.repository, self.person)
        if permission is None or not permission.allows(least):
            return
        own = chat_services.scope_of(self.person)
        chat_services.choices.put(
            place_scope(self.thread) if is_here else own,
            DEFAULT_REPOSITORY,
            str(answer.repository),
            by=own,
            now=self.services.clock.now(),
        )

    def _permission(self, repo: RepoRef, person: Actor) -> Permission | None:
        """Ask the forge; if it does not answer, the run tries again later."""
        try:
            return self.services.code_host.forge.fetch_permission(repo, person)
        except (RateLimitedError, ServiceUnavailableError):
            raise
        except ServiceError:
            return None


QUESTION_ARTIFACT: Final = "asked"
NOT_LINKED: Final = "not-linked"
_INVITED: Final = "Waiting for the person to link an account."
_UNNAMED_BOT: Final = "Bots may ask only if `accounts.map` names them."
_NO_WAY: Final = (
    "I do not know your account on the forge, and this service has no page to link it. "
    "Ask whoever runs this Patchwright to link your account."
)


_ELSEWHERE: Final = (
    "This thread is about {place}, and has its one pull request there. Please ask for "
    "{meant} in a thread of its own."
)


class AskedQuestion(Value):
    """The question of a job before it began, and the last event that it had read."""

    text: str
    up_to: int


@skipped_on_resume
def acknowledge_in_chat(services: StepServices, run: Run) -> Run | End:
    """Show that the request was seen: finding the repository may take long."""
    if isinstance(run.trigger.thread, TalkThread):
        acknowledge(services.live, services.channel, run.trigger)
    return run


@skipped_on_resume
def start_thread(services: StepServices, run: Run) -> Run | End:
    """Begin a thread for a request that no other person could see."""
    trigger, thread = run.trigger, run.trigger.thread
    if not isinstance(thread, TalkThread) or thread.has_begun:
        return run
    try:
        new = _open(services, trigger, thread)
    except ServiceError as error:
        return fail(services, run, error)
    begun = trigger.replace(thread=new)
    run.store.replace_thread(thread, new)
    run.store.settle(begun)
    return run.with_trigger(begun)


@skipped_on_resume
def find_requester(services: StepServices, run: Run) -> Run | End:
    """Find the first request of a person whose forge account is known.

    Earlier requesters may never link their account, so the run does not wait for them.
    """
    if not isinstance(run.trigger.thread, TalkThread):
        return run
    try:
        identified = with_forge_accounts(run.trigger, services.chat.find_person)
        if identified is not None:
            return replace(run, identified=identified)
        for one in run.joined:
            identified = with_forge_accounts(one.trigger, services.chat.find_person)
            if identified is not None and identified.kind is not TriggerKind.REPLY:
                return replace(_prefer(run, one), identified=identified)
    except ServiceError as error:
        return fail(services, run, error)
    return end_early(services, run, _unknown(services, run))


@skipped_on_resume
def require_sign_in(services: StepServices, run: Run) -> Run | End:
    """Wait until who asked beside the code has an account, where everybody needs one.

    Bots cannot sign in: the settings name those that may ask.
    """
    trigger = run.trigger
    is_of_person = not (
        trigger.actor.is_bot or trigger_definition(trigger.kind).is_automatic
    )
    if not is_of_person or not isinstance(trigger.thread, ForgeThread):
        return run
    text = services.chat.ask_to_sign_in(trigger.actor)
    if not text:
        return run
    outcome = service_outcome(OutcomeKind.NEEDS_INPUT, NOT_LINKED, text, waits=True)
    message = tell_requester(trigger.thread, text)
    effects = () if _was_asked(run, text) else (message,)
    _keep_asked(run, text)
    return end_early(services, run, EarlyResult(outcome, effects, run.last_joined_id))


@skipped_on_resume
def find_repository(services: StepServices, run: Run) -> Run | End:
    """Find the repository, if the thread does not name it."""
    thread, request = run.trigger.thread, run.identified
    if not isinstance(thread, TalkThread) or request is None:
        return run
    run = replace(run, scope=find_scope(services, run))
    try:
        found = _find_repository(services, run, thread, request)
        if isinstance(found, EarlyResult):
            return end_early(services, run, found)
        placed = name_people(services, request).replace(repo=found)
    except ServiceError as error:
        return fail(services, run, error)
    if placed != run.trigger:
        run.store.settle(placed)
    return run.with_trigger(placed)


def ask_requester(run: Run, asked: Question) -> EarlyResult:
    """Wait for an answer; the same question is not asked again without need."""
    outcome = service_outcome(
        OutcomeKind.NEEDS_INPUT, asked.reason, asked.text, waits=True
    )
    if _was_asked(run, asked.text):
        return EarlyResult(outcome, (), run.last_joined_id)
    _keep_asked(run, asked.text)
    message = tell_requester(run.trigger.thread, asked.text, asked.offers)
    return EarlyResult(outcome, (message,), run.last_joined_id)


def _find_repository(
    services: StepServices, run: Run, thread: TalkThread, request: Trigger
) -> RepoRef | EarlyResult:
    """Return the repository, or why the run waits.

    A conversation has one pull request, so its repository does not change.
    """
    scope = find_scope(services, run)
    place = request.place or run.store.find_repository()
    if place is not None:
        return _elsewhere(run, request, place, scope) or place
    replies = tuple(one.request for one in run.answers)
    chooser = RepositoryChooser(services, thread, request.asker, replies, scope)
    found = chooser.choose(request)
    if not isinstance(found, Question):
        return found.repo
    asked = ask_requester(run, found)
    if asked.effects and services.chat.needs_renewal(request.asker):
        return replace(asked, effects=(*asked.effects, Invite(renews=True)))
    return asked


def _elsewhere(
    run: Run, request: Trigger, place: RepoRef, scope: ReferenceScope
) -> EarlyResult | None:
    """Refuse a request for another repository than the conversation's."""
    meant = find_references([request.request], scope).meant
    if not meant or place in meant:
        return None
    text = _ELSEWHERE.format(
        place=inline_code(place.full_name), meant=inline_code(meant[0].full_name)
    )
    refused = service_outcome(OutcomeKind.REFUSED, "other-repository", text)
    message = tell_requester(request.thread, text)
    return EarlyResult(refused, (message,), run.last_joined_id)


def _prefer(run: Run, one: JoinedRequest) -> Run:
    """Make this the main request of the job; the first request joins it instead."""
    run.store.swap(one, run.trigger)
    joined = run.store.load_requests()
    return replace(run.with_trigger(one.trigger), joined=joined)


def _was_asked(run: Run, text: str) -> bool:
    """Tell whether the requester has seen the question and not mentioned us since.

    Messages of other people are no reason to ask the requester again.
    """
    stored = run.store.load_kept(QUESTION_ARTIFACT)
    if stored is None:
        return False
    before = AskedQuestion.model_validate_json(stored)
    calls = any(
        one.event_id > before.up_to
        and one.trigger.kind is not TriggerKind.REPLY
        and is_by(one, run.trigger.actor)
        for one in run.joined
    )
    return before.text == text and not calls


def _keep_asked(run: Run, text: str) -> None:
    asked = AskedQuestion(text=text, up_to=run.last_joined_id)
    stored = asked.model_dump_json().encode()
    run.store.keep(QUESTION_ARTIFACT, stored)


def _open(services: StepServices, trigger: Trigger, thread: TalkThread) -> TalkThread:
    """Open the thread; a thread that an earlier attempt opened is found."""
    tracker, text = services.channel.tracker(thread), _opening(trigger)

    def open_thread() -> str:
        return tracker.open_thread(trigger, text).model_dump_json()

    publish = partial(services.live.publish, OpenThread(thread=thread), open_thread)
    try:
        opened = publish()
    except ServiceUnavailableError:
        opened = publish()
    return TalkThread.model_validate_json(opened)


def _unknown(services: StepServices, run: Run) -> EarlyResult:
    """Wait until the person has linked an account, or say that this is not possible.

    A bot cannot link an account. It gets no answer, so that two bots do not answer each
    other without end.
    """
    if run.trigger.actor.is_bot:
        unnamed = service_outcome(OutcomeKind.REFUSED, "bot-not-named", _UNNAMED_BOT)
        return EarlyResult(unnamed, ())
    if services.chat.can_invite:
        outcome = service_outcome(
            OutcomeKind.NEEDS_INPUT, NOT_LINKED, _INVITED, waits=True
        )
        effects = () if _was_asked(run, _INVITED) else (Invite(),)
        _keep_asked(run, _INVITED)
        return EarlyResult(outcome, effects, run.last_joined_id)
    refused = service_outcome(OutcomeKind.REFUSED, NOT_LINKED, _NO_WAY)
    return EarlyResult(refused, (tell_requester(run.trigger.thread, _NO_WAY),))


def _opening(trigger: Trigger) -> str:
    """Return the text that shows a request that no other person could see."""
    who = mention_link(trigger.actor.login, trigger.actor.external_id)
    request = without_mentions(trigger.request)
    quoted = "\n".join(f"> {line}" for line in request.splitlines())
    return f"{who} asks:\n\n{quoted}" if quoted else f"{who} asks."
