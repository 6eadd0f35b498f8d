"""Run the jobs from the queue, and find jobs that the queue lost."""

import threading
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.events.observations import OutcomeReached
from patchwright.core.events.payload import Source
from patchwright.core.types.base import JobId
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.attempt import internal_failure, is_internal_failure
from patchwright.resolver.job import Job, JobState, Lease
from patchwright.resolver.linked_threads import plan_notification, tickets_of
from patchwright.resolver.publish.effects import (
    Effect,
    FinalMessage,
    plan_effects,
)
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.resolver.run import Run, end
from patchwright.resolver.run_plan import PLAN_ARTIFACT, AttemptResult, MovedResult
from patchwright.resolver.set_up.cache import open_set_up_cache
from patchwright.resolver.set_up.sandboxes import InterruptibleSandboxes
from patchwright.resolver.steps import open_run, run_job
from patchwright.workers.jobs.dry_run import as_dry_run
from patchwright.workers.jobs.guarded_services import with_lease_checks
from patchwright.workers.jobs.lease import LeaseGuard, heartbeat
from patchwright.workers.jobs.outcome_publisher import (
    OutcomePublisher,
    give_up_lost_effect,
)
from patchwright.workers.jobs.recovery import (
    give_up_job,
    has_broken_too_often,
    verify_final_message,
    with_kept_work,
)
from patchwright.workers.queue.interface import BrokerUnavailableError
from patchwright.workers.store.run_store import RunServices

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _RunningJob:
    """A job that this process runs; `release_signal` is done when it must stop."""

    guard: LeaseGuard
    release_signal: ReleaseSignal = field(default_factory=Future)

    @property
    def lease(self) -> Lease:
        return self.guard.lease

    def release_wait(self) -> None:
        """End every wait of the run; a second call does nothing."""
        with suppress(InvalidStateError):
            self.release_signal.set_result(None)


class JobWorker:
    """The `JobRunner` of a process; `worker` names it in leases."""

    def __init__(self, services: RunServices, worker: str) -> None:
        self._services, self._worker = services, worker
        self._lease_s = services.settings.queue.lease_seconds
        self._running: dict[JobId, _RunningJob] = {}
        self._lock = threading.Lock()
        self._stopping = False

    def run(self, job_id: JobId) -> None:
        stores = self._services.stores
        running = self._claim(job_id)
        if running is None:
            return
        lease = running.lease
        structlog.contextvars.bind_contextvars(
            job_id=job_id, conversation_id=lease.conversation_id
        )
        try:
            with heartbeat(running.guard, self._lease_s, running.release_wait):
                delivery_id = stores.jobs.delivery_of(job_id)
                structlog.contextvars.bind_contextvars(delivery_id=delivery_id)
                self._services.warm_up()
                self._run_claimed(running)
        except LeaseLostError:
            log.info("lease_lost")
        finally:
            self._forget(job_id)
            structlog.contextvars.clear_contextvars()

    def sweep(self) -> None:
        jobs = self._services.stores.jobs
        long_s = self._services.settings.queue.resubmit_after_s
        for job_id in jobs.take_unfinished(long_s):
            self._submit(job_id)
        for job_id in jobs.take_unverified():
            verify_final_message(self._services, job_id)
        self._services.sandboxes.reap()
        cache = open_set_up_cache(self._services.settings, self._services.clock)
        if cache is not None:
            cache.evict()

    def stop(self) -> None:
        """Release every running job, and end every wait of the runs."""
        if self._stopping:
            return
        with self._lock:
            self._stopping = True
            every_running = list(self._running.values())
        for running in every_running:
            try:
                self._services.stores.leases.release(running.lease)
            except (LeaseLostError, SQLAlchemyError) as error:
                # This worker can write nothing now; another worker gets the job.
                log.warning("job_not_given_back", error=type(error).__name__)
            running.release_wait()

    def end_early(self, job_id: JobId, outcome: Outcome) -> None:
        """End a running job of this process, and tell people how it ended.

        Its work is lost. A job whose delivery has begun is not ended.
        """
        stores = self._services.stores
        with self._lock:
            running = self._running.get(job_id)
        job = stores.jobs.load(job_id)
        if running is None or job is None or job.state is JobState.DELIVERING:
            return
        try:
            stores.leases.release(running.lease)
        except LeaseLostError:
            return
        running.release_wait()
        guard = self._take(job_id)
        if guard is None:
            return
        if guard.lease.state is JobState.DELIVERING:
            # The job has ended by itself meanwhile.
            self._deliver(stores.jobs.load(job_id) or job, guard)
            return
        services = self._services_for(guard)
        run = _open_run(services, job, guard.lease, Future())
        done = end(services, run, outcome)
        self._store_and_publish(job, guard, done)

    @property
    def load(self) -> int:
        """The number of jobs that this process runs now."""
        return len(self._running)

    def _claim(self, job_id: JobId) -> _RunningJob | None:
        """Take the job, unless this process is stopping or has the job already."""
        with self._lock:
            if self._stopping or job_id in self._running:
                return None
            guard = self._take(job_id)
            if guard is None:
                return None
            self._running[job_id] = _RunningJob(guard)
            return self._running[job_id]

    def _take(self, job_id: JobId) -> LeaseGuard | None:
        stores, clock = self._services.stores, self._services.clock
        asked_at = clock.monotonic()
        lease = stores.leases.claim(job_id, self._worker, self._lease_s)
        if lease is None:
            return None
        return LeaseGuard(
            stores.leases, stores.jobs, lease, clock, self._lease_s, asked_at=asked_at
        )

    def _forget(self, job_id: JobId) -> None:
        """Forget a job without a lease, so that this process can take it again."""
        with self._lock:
            self._running.pop(job_id, None)

    def _run_claimed(self, running: _RunningJob) -> None:
        """Run the job; after too many internal errors, end it."""
        try:
            self._go_on(running)
        except (LeaseLostError, OperationalError, InterfaceError):
            raise
        except Exception:  # an internal error outside of the work itself
            log.exception("job_broke")
            if has_broken_too_often(running.lease):
                services = self._services_for(running.guard)
                self._submit_following(give_up_job(services, running.lease))

    def _go_on(self, running: _RunningJob) -> None:
        stores, lease = self._services.stores, running.lease
        job = stores.jobs.load(lease.job_id)
        if job is None:
            return
        self._log_requester(job)
        if lease.state is JobState.DELIVERING:
            self._deliver(job, running.guard)
            return
        done = self._work(job, running)
        if isinstance(done, MovedResult):
            self._submit(done.job_id)
            return
        self._store_and_publish(job, running.guard, done)

    def _log_requester(self, job: Job) -> None:
        """Add the requester's account to every log line, if there is one."""
        host = self._services.directory.forge.account_host
        account = self._services.stores.accounts.known(job.trigger.asker, host)
        if account is not None:
            structlog.contextvars.bind_contextvars(user_id=account)

    def _store_and_publish(
        self, job: Job, guard: LeaseGuard, done: AttemptResult
    ) -> None:
        """Store the outcome, or a shorter one if that fails, and deliver it."""
        stores = self._services.stores
        plain = _without_tickets(done, job, self._services.clock.now())
        if not (self._is_kept(job, guard, done) or self._is_kept(job, guard, plain)):
            self._keep(job, guard.lease, _internal_failure(done, job))
        # The run may have found the job's repository and requester meanwhile.
        self._deliver(stores.jobs.load(job.id) or job, guard)

    def _is_kept(self, job: Job, guard: LeaseGuard, done: AttemptResult) -> bool:
        try:
            self._keep(job, guard.lease, done)
        except (LeaseLostError, OperationalError, InterfaceError):
            raise
        except (
            Exception
        ):  # an outcome that cannot be stored must not be tried again and again
            log.exception("outcome_not_kept")
            return False
        return True

    def _keep(self, job: Job, lease: Lease, done: AttemptResult) -> None:
        now = self._services.clock.now()
        self._services.stores.outcomes.store(
            lease,
            with_kept_work(done.outcome, self._services, job.id),
            _effects(self._services, done, job, now),
            read_up_to=done.read_up_to,
            now=now,
            artifacts={
                **done.artifacts,
                PLAN_ARTIFACT: done.plan.model_dump_json().encode(),
            },
        )

    def _services_for(self, guard: LeaseGuard) -> RunServices:
        """Return the services of a run, which write only while the lease is held.

        In a dry run they write nothing.
        """
        if self._services.overrides.is_dry_run:
            return as_dry_run(self._services, guard.lease)
        return with_lease_checks(self._services, guard)

    def _work(self, job: Job, running: _RunningJob) -> AttemptResult | MovedResult:
        services = self._services_for(running.guard)
        services = replace(
            services,
            sandboxes=InterruptibleSandboxes(
                services.sandboxes, running.release_signal, for_another=True
            ),
        )
        run = _open_run(services, job, running.lease, running.release_signal)
        return run_job(services, run)

    def _deliver(self, job: Job, guard: LeaseGuard) -> None:
        stores, lease = self._services.stores, guard.lease
        outcome = job.outcome or internal_failure(job.id)
        give_up_lost_effect(stores.effects, lease)
        delivery = OutcomePublisher(self._services_for(guard), job, outcome, lease)
        if not delivery.run():
            stores.leases.release(lease)
            return
        if outcome.waits:
            log.info("job_waits", reason=outcome.reason)
            is_awake = stores.outcomes.wait(lease, self._lease_s)
            self._forget(job.id)
            if is_awake:
                self._submit(job.id)
            return
        ended = as_delivered(outcome, delivery.so_far)
        is_another = ended.kind is not outcome.kind or delivery.so_far.is_rebased
        if is_another:
            events = stores.events.open(job.conversation_id, lease)
            events.append(Source.SYSTEM, OutcomeReached(outcome=ended))
        state, now = _state_at_end(ended), self._services.clock.now()
        following = stores.outcomes.finish(
            lease,
            state,
            now,
            self._lease_s,
            outcome=ended if is_another else None,
            keeps_checkpoint=is_internal_failure(ended),
        )
        log.info("job_finished", outcome=ended.kind, reason=ended.reason)
        self._submit_following(following)

    def _submit_following(self, following: JobId | None) -> None:
        if following is not None:
            self._submit(following)

    def _submit(self, job_id: JobId) -> None:
        """Put the job in the queue; if the queue is down, a later sweep does it."""
        try:
            self._services.submit(job_id)
        except BrokerUnavailableError as error:
            log.warning("job_not_submitted", job_id=job_id, reason=str(error))


def _without_tickets(done: AttemptResult, job: Job, now: datetime) -> AttemptResult:
    """Return the same result, with effects that need no linked threads or tickets."""
    if done.quiet or done.effects is not None:
        return done
    notes = (*done.outcome.notes, _NO_TICKETS)
    outcome = Outcome.model_validate(done.outcome.model_dump() | {"notes": notes})
    plan = done.plan
    notification = plan_notification(outcome, plan, job.trigger, now)
    effects = plan_effects(outcome, plan.target, plan.config, notification)
    return replace(done, outcome=outcome, effects=effects)


_NO_TICKETS: Final = (
    "Something broke inside Patchwright when the tickets of this conversation were "
    "looked up, so none of them was moved or linked."
)


def _internal_failure(done: AttemptResult, job: Job) -> AttemptResult:
    """Return a result that only reports an internal error."""
    return replace(
        done, outcome=internal_failure(job.id), artifacts={}, effects=(FinalMessage(),)
    )


def _effects(
    services: RunServices, done: AttemptResult, job: Job, now: datetime
) -> tuple[Effect, ...]:
    if done.effects is not None:
        return done.effects
    if done.quiet:
        return ()
    plan = done.plan
    linked = services.stores.threads.threads_of(job.conversation_id)
    tickets = tickets_of(services, linked)
    notification = plan_notification(done.outcome, plan, job.trigger, now, tickets)
    return plan_effects(done.outcome, plan.target, plan.config, notification)


def _open_run(
    services: RunServices, job: Job, lease: Lease, release_signal: ReleaseSignal
) -> Run:
    store = services.open_store(job, lease)
    return open_run(services, job, store, lease.attempt, release_signal)


def _state_at_end(outcome: Outcome) -> JobState:
    if outcome.kind is OutcomeKind.FAILED:
        return JobState.FAILED
    if outcome.kind is OutcomeKind.STOPPED:
        return JobState.CANCELLED
    return JobState.DONE
