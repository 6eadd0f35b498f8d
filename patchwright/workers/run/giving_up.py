"""End a job that breaks whoever takes it, in words and with its work kept.

What breaks may be anything: a row that another version has written, a database that
refuses one kind of row. So nothing here counts on what a run usually has.
"""

from typing import Final

import structlog

from patchwright.core.errors import LeaseLostError
from patchwright.core.types.ids import JobId
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome
from patchwright.resolver.effects import FinalMessage
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.run.delivery import make_deliverer
from patchwright.workers.run.opening import load_plan
from patchwright.workers.run.orders import WORK_AT_SERVICE
from patchwright.workers.run.plan import destination
from patchwright.workers.run.receipts import delivery_results_of
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.job import Job, JobState, Lease

INTERNAL: Final = "internal"
LOST: Final = "worker-lost"
# So many workers may break over one job, or be lost over it.
MOST_BROKEN: Final = 3

log = structlog.get_logger(__name__)


def internal_failure(job_id: JobId) -> Outcome:
    text = (
        "Something broke inside Patchwright; the service's log has the details under "
        f"run {job_id[:8]}."
    )
    return service_outcome(OutcomeKind.FAILED, INTERNAL, text)


def is_internal_failure(outcome: Outcome) -> bool:
    """Tell whether the run ended before its work could become a change."""
    return outcome.reason in (INTERNAL, LOST) and not outcome.head_sha


def with_kept_work(outcome: Outcome, services: RunServices, job_id: JobId) -> Outcome:
    """Say how to get at the work of a run that broke, where any of it is kept."""
    if not is_internal_failure(outcome) or not services.stores.outcomes.has_work(job_id):
        return outcome
    said = f"What it had made is kept. {WORK_AT_SERVICE.format(run=job_id[:8])}"
    if said in outcome.notes or services.overrides.work_at != WORK_AT_SERVICE:
        return outcome
    notes = (*outcome.notes, said)
    return Outcome.model_validate(outcome.model_dump() | {"notes": notes})


def has_broken_too_often(lease: Lease) -> bool:
    delivers = lease.state is JobState.DELIVERING
    tried = lease.delivery_attempt if delivers else lease.attempt
    return tried > MOST_BROKEN


def give_up_job(services: RunServices, lease: Lease) -> JobId | None:
    """Tell the thread as far as that goes, and end the job.

    Returns the job that came of a request nobody has read yet. Raises `LeaseLostError`.
    """
    outcome = with_kept_work(internal_failure(lease.job_id), services, lease.job_id)
    try:
        _tell(services, lease.job_id, outcome)
    except LeaseLostError:
        raise
    except Exception:  # the end must come, whether it can be told or not
        log.exception("end_not_told")
    log.error("job_given_up", job_id=lease.job_id)
    now = services.clock.now()
    return services.stores.outcomes.give_up(lease, outcome, now)


def _tell(services: RunServices, job_id: JobId, outcome: Outcome) -> None:
    job = services.stores.jobs.load(job_id)
    if job is None:
        return
    plan = load_plan(services, job)
    to = destination(plan, job.trigger)
    so_far = _delivered(services, job)
    make_deliverer(services, plan).perform(FinalMessage(), outcome, to, so_far)


def _delivered(services: RunServices, job: Job) -> DeliveryResult:
    try:
        return delivery_results_of(services.stores.effects.of_job(job.id))
    except ValueError:  # a receipt that another version has written
        return DeliveryResult()
