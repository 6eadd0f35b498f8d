"""Tie the threads that a request names to its conversation, where it may be done."""

from dataclasses import dataclass

from patchwright.core.errors import ServiceError
from patchwright.core.types.ids import ConversationId
from patchwright.core.types.threads import ForgeThread, TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import OutcomeKind, explained
from patchwright.resolver.placing.openness import Openness
from patchwright.resolver.placing.references import find_references
from patchwright.workers.run.consenting import carry_consent, may_join
from patchwright.workers.run.done import Moved
from patchwright.workers.run.services import Services
from patchwright.workers.run.wait import Wait, tell_requester
from patchwright.workers.store.job import Job, Lease

_WORKS_IN_PUBLIC = (
    "A run about {name} works already, and everybody can read what it does. It was "
    "told nothing of this. Ask again when it has ended; or answer `share`, after "
    "calling me, if it may be shown."
)


@dataclass(frozen=True)
class Elsewhere:
    """A thread that was named, and the conversation that it belongs to."""

    named: ThreadRef
    conversation_id: ConversationId


def tie_threads(services: Services, job: Job, lease: Lease) -> Elsewhere | None:
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
        other = services.chat.ties.link(lease, found, services.clock.now())
        if other is not None and stores.threads.repository_of(other) == trigger.home:
            return Elsewhere(found, other)
    return None


def move_there(
    services: Services, job: Job, lease: Lease, there: Elsewhere, openness: Openness
) -> Moved | Wait | None:
    """Go on in the other conversation; None if the thread is not there any more."""
    into = there.conversation_id
    joins = may_join(services, job, openness, into)
    now = services.clock.now()
    ties, trigger = services.chat.ties, job.trigger
    moved = ties.move(lease, trigger, (there.named, into), now, joins=joins)
    if moved is not None:
        carry_consent(services, job, into)
        return Moved(moved)
    is_gone = services.stores.threads.conversation_of(there.named) != into
    return None if is_gone or joins else _not_told(trigger, there)


def _not_told(trigger: Trigger, there: Elsewhere) -> Wait:
    text = _WORKS_IN_PUBLIC.format(name=there.named.name)
    outcome = explained(OutcomeKind.REFUSED, "works-in-public", text)
    return Wait(outcome, (tell_requester(trigger.thread, text),))


def _named(services: Services, trigger: Trigger) -> tuple[ThreadRef, ...]:
    """Return what the request names on other services than its own."""
    found = find_references(_own_words(trigger), services.chat.find_places())
    own = trigger.thread.service
    return tuple(one for one in found.threads if one.service != own)


def _own_words(trigger: Trigger) -> tuple[str, ...]:
    """Return what the requester has said; who puts a label on has not said a word.

    The text of an issue may be a stranger's, who must not choose what else is read.
    """
    opens = trigger.kind is TriggerKind.BODY_MENTION
    said = (trigger.title, trigger.body) if opens else ()
    return (*said, trigger.request)


def _found(services: Services, trigger: Trigger, named: ThreadRef) -> ThreadRef | None:
    """Return the thread as it is, if it belongs to the same repository."""
    if not _belongs(services, trigger, named):
        return None
    try:
        return services.channel.fetch_opening(named).ref
    except ServiceError:
        return None


def _belongs(services: Services, trigger: Trigger, named: ThreadRef) -> bool:
    home = trigger.home
    if isinstance(named, ForgeThread):
        return named.repo == home
    # Who may write to a repository may read what an administrator says belongs to it.
    return _project_of(services, named).casefold() == home.full_name.casefold()


def _project_of(services: Services, ticket: TalkThread) -> str:
    key = ticket.place.rpartition("/")[2]
    return services.settings.jira.projects.get(key, "")
