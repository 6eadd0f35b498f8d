"""Tie the threads that a request names to its conversation, where it may be done."""

from patchwright.core.errors import ServiceError
from patchwright.core.types.threads import ForgeThread, TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.placing.references import find_references
from patchwright.workers.run.done import Moved
from patchwright.workers.run.services import Services
from patchwright.workers.store.job import Job, Lease


def tie_threads(services: Services, job: Job, lease: Lease) -> Moved | None:
    """Tie what the requester names; where it has a conversation, go on in that one.

    Whoever asks was admitted to the repository. What they say counts here, and not
    what others have written around it.
    """
    known = {
        str(one.ref)
        for one in services.stores.threads.threads_of(lease.conversation_id)
    }
    trigger, now = job.trigger, services.clock.now()
    for named in _named(services, trigger):
        found = None if str(named) in known else _found(services, trigger, named)
        if found is None:
            continue
        other = services.talk.ties.tie(lease, found, now)
        if other is None:
            continue
        if services.stores.threads.repository_of(other) == trigger.home:
            return Moved(services.talk.ties.move(lease, trigger, other, now))
    return None


def _named(services: Services, trigger: Trigger) -> tuple[ThreadRef, ...]:
    """Return what the request names on other services than its own."""
    asked = [trigger.request] if trigger.post_id else [trigger.title, trigger.body]
    found = find_references([*asked, trigger.request], services.talk.find_places())
    own = trigger.thread.service
    return tuple(one for one in found.threads if one.service != own)


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
