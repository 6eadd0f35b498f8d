"""See that the last word of a run is still there, and say it again if it is not.

A worker that stood still in the middle of a write may make it after another one has
ended the run. Such a run is looked at once more, some time after its end.
"""

from collections.abc import Iterator

import structlog

from patchwright.core.errors import (
    PatchwrightError,
    RateLimitedError,
    ServiceUnavailableError,
)
from patchwright.core.types.ids import JobId
from patchwright.core.types.threads import ThreadRef
from patchwright.core.types.work import Outcome
from patchwright.resolver.effects import (
    FinalMessage,
    CrossPost,
    ReportCheck,
    SwapLabels,
)
from patchwright.resolver.messages.status import UNFINISHED, DeliveryResult, mark
from patchwright.workers.run.delivery import make_deliverer
from patchwright.workers.run.opening import load_plan
from patchwright.workers.run.plan import destination
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.effects import EffectState, StoredEffect
from patchwright.workers.store.job import Job, JobState, is_over

# What can be said twice without a trace.
_Repeatable = FinalMessage | CrossPost | ReportCheck | SwapLabels

log = structlog.get_logger(__name__)


def verify_final_message(services: RunServices, job_id: JobId) -> None:
    """Repair what a lost worker has written over; later, where a service is away."""
    job = services.stores.jobs.load(job_id)
    if job is None or job.outcome is None or services.overrides.is_dry_run:
        return
    if not (is_over(job) or job.state is JobState.WAITING_USER):
        # It goes on, and is looked at when it ends.
        return
    try:
        _verify(services, job, job.outcome)
    except (RateLimitedError, ServiceUnavailableError) as error:
        log.warning("last_word_not_verified", reason=error.reason)
        services.stores.jobs.note_overrun(job_id)
    except PatchwrightError as error:
        log.warning("last_word_unknown", reason=error.reason, error=str(error))


def _verify(services: RunServices, job: Job, outcome: Outcome) -> None:
    plan = load_plan(services, job)
    to = destination(plan, job.trigger)
    deliverer = make_deliverer(services, plan)
    for stored, effect in _repeatable(services.stores.effects.of_job(job.id)):
        thread = _thread_of(effect, to.thread)
        if thread is not None and not _is_overwritten(services, thread, job.id):
            continue
        if thread is not None:
            log.warning("last_word_repaired", job_id=job.id, thread=str(thread))
        so_far = DeliveryResult.model_validate_json(stored.receipt or "{}")
        deliverer.perform(effect, outcome, to, so_far)


def _repeatable(
    stored: tuple[StoredEffect, ...],
) -> Iterator[tuple[StoredEffect, _Repeatable]]:
    """Yield what was done last of each kind in each place."""
    newest: dict[str, tuple[StoredEffect, _Repeatable]] = {}
    for one in stored:
        if one.state is EffectState.DONE and isinstance(one.effect, _Repeatable):
            newest[one.effect.model_dump_json()] = (one, one.effect)
    yield from newest.values()


def _thread_of(effect: _Repeatable, own: ThreadRef) -> ThreadRef | None:
    """Return where the effect is a message; the others show no trace of a repeat."""
    match effect:
        case FinalMessage():
            return own
        case CrossPost():
            return effect.thread
        case ReportCheck() | SwapLabels():
            return None


def _is_overwritten(services: RunServices, thread: ThreadRef, job_id: JobId) -> bool:
    working = f"{UNFINISHED}{mark(job_id)}"
    return services.channel.find_post(thread, working) is not None
