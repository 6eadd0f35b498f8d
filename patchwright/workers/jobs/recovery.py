"""End jobs that break their workers, and repeat a final message that was lost."""

from collections.abc import Iterator
from typing import Final

import structlog

from patchwright.core.types.base import JobId
from patchwright.core.types.errors import (
    LeaseLostError,
    PatchwrightError,
    RateLimitedError,
    ServiceUnavailableError,
)
from patchwright.core.types.threads import ThreadRef
from patchwright.core.types.work import Outcome
from patchwright.resolver.attempt import (
    internal_failure,
    is_internal_failure,
    restore_plan,
)
from patchwright.resolver.delivery import make_deliverer
from patchwright.resolver.job import Job, JobState, Lease, is_over
from patchwright.resolver.messages.status import UNFINISHED, DeliveryResult, mark
from patchwright.resolver.publish.effects import (
    CrossPost,
    FinalMessage,
    ReportCheck,
    SwapLabels,
)
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan, destination
from patchwright.resolver.services import WORK_AT_SERVICE
from patchwright.workers.store.effects import EffectState, StoredEffect
from patchwright.workers.store.run_store import RunServices, delivery_results_of

# How many workers may fail or be lost during one job.
MOST_BROKEN: Final = 3

log = structlog.get_logger(__name__)


def with_kept_work(outcome: Outcome, services: RunServices, job_id: JobId) -> Outcome:
    """Add a note on how to get the work of a failed run, if any was saved."""
    if not is_internal_failure(outcome) or not services.stores.outcomes.has_work(
        job_id
    ):
        return outcome
    note = f"The work of the run is stored. {WORK_AT_SERVICE.format(run=job_id[:8])}"
    if note in outcome.notes or services.overrides.work_at != WORK_AT_SERVICE:
        return outcome
    notes = (*outcome.notes, note)
    return Outcome.model_validate(outcome.model_dump() | {"notes": notes})


def has_broken_too_often(lease: Lease) -> bool:
    delivers = lease.state is JobState.DELIVERING
    tried = lease.delivery_attempt if delivers else lease.attempt
    return tried > MOST_BROKEN


def give_up_job(services: RunServices, lease: Lease) -> JobId | None:
    """Post the failure in the thread if possible, and end the job.

    Returns the new job for requests that were not read yet. Raises `LeaseLostError`.
    """
    outcome = with_kept_work(internal_failure(lease.job_id), services, lease.job_id)
    try:
        _tell(services, lease.job_id, outcome)
    except LeaseLostError:
        raise
    except Exception:  # the job must end, even if the message cannot be posted
        log.exception("end_not_told")
    log.error("job_given_up", job_id=lease.job_id)
    now = services.clock.now()
    return services.stores.outcomes.give_up(lease, outcome, now)


def _tell(services: RunServices, job_id: JobId, outcome: Outcome) -> None:
    job = services.stores.jobs.load(job_id)
    if job is None:
        return
    plan = _plan_of(services, job)
    to = destination(plan, job.trigger)
    so_far = _delivered(services, job)
    make_deliverer(services, plan).perform(FinalMessage(), outcome, to, so_far)


def _delivered(services: RunServices, job: Job) -> DeliveryResult:
    try:
        return delivery_results_of(services.stores.effects.of_job(job.id))
    except ValueError:  # a result that another version has written
        return DeliveryResult()


# Effects that can be repeated without a second visible message.
_Repeatable = FinalMessage | CrossPost | ReportCheck | SwapLabels


def verify_final_message(services: RunServices, job_id: JobId) -> None:
    """Repair messages that a lost worker overwrote; later, if a service is down."""
    job = services.stores.jobs.load(job_id)
    if job is None or job.outcome is None or services.overrides.is_dry_run:
        return
    if not (is_over(job) or job.state is JobState.WAITING_USER):
        # The job still runs; its messages are checked when it ends.
        return
    try:
        _verify(services, job, job.outcome)
    except (RateLimitedError, ServiceUnavailableError) as error:
        log.warning("last_word_not_verified", reason=error.reason)
        services.stores.jobs.note_overrun(job_id)
    except PatchwrightError as error:
        log.warning("last_word_unknown", reason=error.reason, error=str(error))


def _verify(services: RunServices, job: Job, outcome: Outcome) -> None:
    plan = _plan_of(services, job)
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
    """Yield the newest completed effect of each kind in each thread."""
    newest: dict[str, tuple[StoredEffect, _Repeatable]] = {}
    for one in stored:
        if one.state is EffectState.DONE and isinstance(one.effect, _Repeatable):
            # What a message offers makes no other message of it.
            thread = one.effect.thread if isinstance(one.effect, CrossPost) else ""
            newest[f"{one.effect.kind} {thread}"] = (one, one.effect)
    yield from newest.values()


def _thread_of(effect: _Repeatable, own: ThreadRef) -> ThreadRef | None:
    """Return the thread of an effect that is a message; None for other effects."""
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


def _plan_of(services: RunServices, job: Job) -> RunPlan:
    stored = services.stores.outcomes.load_artifact(job.id, PLAN_ARTIFACT)
    return restore_plan(services, job, stored)
