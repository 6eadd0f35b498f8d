"""Look whether somebody else's pull request is about the same issue."""

from typing import Final

import structlog

from patchwright.core.errors import ServiceError
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome
from patchwright.resolver.rounds import find_competing_pull, competing_pull_text
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.job import Job

COMPETING: Final = "rival"

log = structlog.get_logger(__name__)


def find_competing_pull_request(services: RunServices, job: Job) -> Outcome | None:
    """Return how the run ends where we would compete, unless people want us to.

    Who asks again when they were told has answered the question.
    """
    thread = job.trigger.thread
    if not isinstance(thread, ForgeThread) or thread.kind is not ThreadKind.ISSUE:
        return None
    ended = services.stores.jobs.outcomes_of(job.conversation_id)
    try:
        competing_pulls = services.code_host.forge.fetch_competing_pulls(thread.repo, thread.number)
    except ServiceError as error:
        # A server that is older than the question does not know the answer.
        log.info("rivals_unknown", reason=error.reason, error=str(error))
        return None
    competing_pull = find_competing_pull(competing_pulls, was_told=any(one.reason == COMPETING for one in ended))
    if competing_pull is None:
        return None
    text = competing_pull_text(competing_pull, services.settings.github.mention)
    return service_outcome(OutcomeKind.REFUSED, COMPETING, text)
