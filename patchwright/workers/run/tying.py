"""Tie the threads that a request names to its conversation, where it may be done."""

from dataclasses import dataclass

from patchwright.core.errors import ServiceError
from patchwright.core.types.ids import ConversationId
from patchwright.core.types.threads import ForgeThread, TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import OutcomeKind, service_outcome
from patchwright.resolver.placing.openness import RunVisibility
from patchwright.resolver.placing.references import find_references
from patchwright.workers.run.consenting import copy_consent, may_join
from patchwright.workers.run.done import MovedResult
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.wait import EarlyResult, tell_requester
from patchwright.workers.store.job import Job, Lease

_WORKS_IN_PUBLIC = (
    "A run about {name} works already, and everybody can read what it does. It was "
    "told nothing of this. Ask again when it has ended; or answer `share`, after "
    "calling me, if it may be shown."
)


@dataclass(frozen=True)
class OtherConversation:
    """A thread that was named, and the conversation that it belongs to."""

    named: ThreadRef
    conversation_id: ConversationId


def link_threads(services: RunServices, job: Job, lease: Lease) -> OtherConversation | None:
    """Tie what the requester names; where that has a conversation, return it.

    Whoever asks was admitted to the repository. What they say counts here, and not
    what others have written around it.
    """
    stores, trigger = services.stores, job.trigger
    linked = stores.threads.threads_of(lease.conversation_id)
    known = {str(one.ref) for one in linked}
    for named in _named(services, trigger):
        found = None if str(named) in known else _found(services, trigger, named)
        if found is None:
            continue
        other = services.chat.conversation_links.link(lease, found, services.clock.now())
        if other is not None and stores.threads.repository_of(other) == trigger.home:
            return OtherConversation(found, other)
    return None


def move_request(
    services: RunServices, job: Job, lease: Lease, there: OtherConversation, openness: RunVisibility
) -> MovedResult | EarlyResult | None:
    """Go on in the other conversation; None if the thread is not there any more."""
    into = there.conversation_id
    joins = may_join(services, job, openness, into)
    now = services.clock.now()
    conversation_links, trigger = services.chat.conversation_links, job.trigger
    moved = conversation_links.move(lease, trigger, (there.named, into), now, joins=joins)
    if moved is not None:
        copy_consent(services, job, into)
        return MovedResult(moved)
    is_gone = services.stores.threads.conversation_of(there.named) != into
    return None if is_gone or joins else _refuse_to_join(trigger, there)


def _refuse_to_join(trigger: Trigger, there: OtherConversation) -> EarlyResult:
    text = _WORKS_IN_PUBLIC.format(name=there.named.name)
    outcome = service_outcome(OutcomeKind.REFUSED, "works-in-public", text)
    return EarlyResult(outcome, (tell_requester(trigger.thread, text),))


def _named(services: RunServices, trigger: Trigger) -> tuple[ThreadRef, ...]:
    """Return what the request names on other services than its own."""
    found = find_references(_texts_of_requester(trigger), services.chat.find_places())
    own = trigger.thread.service
    return tuple(one for one in found.threads if one.service != own)


def _texts_of_requester(trigger: Trigger) -> tuple[str, ...]:
    """Return what the requester has said; who puts a label on has not said a word.

    The text of an issue may be a stranger's, who must not choose what else is read.
    """
    opens = trigger.kind is TriggerKind.BODY_MENTION
    said = (trigger.title, trigger.body) if opens else ()
    return (*said, trigger.request)


def _found(services: RunServices, trigger: Trigger, named: ThreadRef) -> ThreadRef | None:
    """Return the thread as it is, if it belongs to the same repository."""
    if not _belongs_to_repository(services, trigger, named):
        return None
    try:
        return services.channel.fetch_opening(named).ref
    except ServiceError:
        return None


def _belongs_to_repository(services: RunServices, trigger: Trigger, named: ThreadRef) -> bool:
    home = trigger.home
    if isinstance(named, ForgeThread):
        return named.repo == home
    # Who may write to a repository may read what an administrator says belongs to it.
    return _repository_of_project(services, named).casefold() == home.full_name.casefold()


def _repository_of_project(services: RunServices, ticket: TalkThread) -> str:
    key = ticket.place.rpartition("/")[2]
    return services.settings.jira.projects.get(key, "")
