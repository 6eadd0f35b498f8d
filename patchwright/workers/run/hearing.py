"""Ask the forge whose comments a run may read."""

from collections.abc import Iterable, Sequence

import structlog

from patchwright.core.errors import ServiceError
from patchwright.core.settings.repository import ContextFrom
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import Thread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.gathering.tied import read_linked_threads
from patchwright.resolver.hearing import FilteredThreads, filter_comments
from patchwright.workers.run.permissions import find_permission
from patchwright.workers.run.prepare import fetch_thread
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.cleaning import clean_thread
from patchwright.workers.store.job import Job

log = structlog.get_logger(__name__)


def read_threads(
    services: RunServices, job: Job, others: Iterable[ThreadRef], rule: ContextFrom
) -> FilteredThreads:
    """Read a job's thread, and `others` of its conversation, as they were then."""
    trigger, at = job.trigger, job.created_at
    thread = fetch_thread(services.channel, trigger, at)
    tied = read_linked_threads(services.channel, others, at)
    redact = services.stores.events.redact
    clean = [clean_thread(redact, one) for one in (thread, *tied)]
    return _hear(services, trigger, clean, rule)


def _hear(
    services: RunServices, trigger: Trigger, threads: Sequence[Thread], rule: ContextFrom
) -> FilteredThreads:
    """Return the threads with what those say who count for this run, and we."""

    def ask(author: Actor) -> Permission | None:
        person = services.chat.find_person(author)
        if person is None:
            return None
        return find_permission(services.code_host.forge, trigger.home, person)

    if rule == "all-marked":
        return FilteredThreads(threads=tuple(threads))
    own = (trigger.actor, trigger.asker, *_ourselves(services))
    return filter_comments(threads, rule, own, ask)


def _ourselves(services: RunServices) -> tuple[Actor, ...]:
    try:
        found = services.code_host.fetch_identity()
    except ServiceError as error:
        log.warning("own_identity_unknown", reason=error.reason)
        return ()
    return (found,) if found else ()
