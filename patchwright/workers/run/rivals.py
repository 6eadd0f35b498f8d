"""Look whether somebody else's pull request is about the same issue."""

from typing import Final

import structlog

from patchwright.core.errors import ServiceError
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.work import Outcome, OutcomeKind, explained
from patchwright.resolver.rounds import find_rival, rival_text
from patchwright.workers.run.services import Services
from patchwright.workers.store.job import Job

RIVAL: Final = "rival"

log = structlog.get_logger(__name__)


def find_rival_of(services: Services, job: Job) -> Outcome | None:
    """Return how the run ends where we would compete, unless people want us to.

    Who asks again when they were told has answered the question.
    """
    thread = job.trigger.thread
    if not isinstance(thread, ForgeThread) or thread.kind is not ThreadKind.ISSUE:
        return None
    ended = services.stores.jobs.outcomes_of(job.conversation_id)
    try:
        rivals = services.code_host.forge.fetch_rivals(thread.repo, thread.number)
    except ServiceError as error:
        # A server that is older than the question does not know the answer.
        log.info("rivals_unknown", reason=error.reason, error=str(error))
        return None
    rival = find_rival(rivals, was_told=any(one.reason == RIVAL for one in ended))
    if rival is None:
        return None
    text = rival_text(rival, services.settings.github.mention)
    return explained(OutcomeKind.REFUSED, RIVAL, text)
