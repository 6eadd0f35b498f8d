"""Run jobs when the queue says so, and find those that it lost."""

import threading

import structlog

from patchwright.core.errors import LeaseLostError
from patchwright.core.types.ids import JobId
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.effects import Effect, FinalMessage, plan_effects
from patchwright.workers.run.delivery import Delivery
from patchwright.workers.run.heartbeat import heartbeat
from patchwright.workers.run.plan import ARTIFACT
from patchwright.workers.run.services import Services
from patchwright.workers.run.work import Done, Work
from patchwright.workers.store.job import Job, JobState, Lease

LEASE_S = 30.0
RESUBMIT_AFTER_S = 60.0

log = structlog.get_logger(__name__)


class Runner:
    """The `JobRunner` of a process; `worker` names it in leases."""

    def __init__(self, services: Services, worker: str, lease_s: float) -> None:
        self._services, self._worker, self._lease_s = services, worker, lease_s
        self._running: dict[JobId, Lease] = {}
        self._lock = threading.Lock()
        self._stopping = False

    def run(self, job_id: JobId) -> None:
        stores, clock = self._services.stores, self._services.clock
        lease = self._claim(job_id)
        if lease is None:
            return
        structlog.contextvars.bind_contextvars(
            job_id=job_id, conversation_id=lease.conversation_id
        )
        try:
            with heartbeat(stores.leases, lease, clock, self._lease_s):
                self._run_claimed(lease)
        except LeaseLostError:
            log.info("lease_lost")
        finally:
            with self._lock:
                self._running.pop(job_id, None)
            structlog.contextvars.clear_contextvars()

    def sweep(self) -> None:
        now = self._services.clock.now()
        for job_id in self._services.stores.jobs.take_unfinished(now, RESUBMIT_AFTER_S):
            self._services.submit(job_id)
        self._services.sandboxes.reap()

    def stop(self) -> None:
        """Give every running job back; its next write ends it here."""
        with self._lock:
            self._stopping = True
            running = list(self._running.items())
        for job_id, lease in running:
            try:
                self._services.stores.leases.release(lease)
            except LeaseLostError:
                continue
            self._services.sandboxes.remove(job_id)

    def _claim(self, job_id: JobId) -> Lease | None:
        """Take the job, unless this process is about to end."""
        with self._lock:
            if self._stopping:
                return None
            lease = self._services.stores.leases.claim(
                job_id, self._worker, self._services.clock.now(), self._lease_s
            )
            if lease is not None:
                self._running[job_id] = lease
            return lease

    def _run_claimed(self, lease: Lease) -> None:
        stores = self._services.stores
        job = stores.jobs.load(lease.job_id)
        if job is None:
            return
        if lease.state is not JobState.DELIVERING:
            done = self._work(job, lease)
            lease = stores.outcomes.store(
                lease,
                done.outcome,
                _effects(done),
                read_up_to=done.read_up_to,
                now=self._services.clock.now(),
                artifacts={
                    **done.artifacts,
                    ARTIFACT: done.plan.model_dump_json().encode(),
                },
            )
            job = job.model_copy(update={"outcome": done.outcome})
        self._deliver(job, lease)

    def _work(self, job: Job, lease: Lease) -> Done:
        work = Work(self._services, job, lease)
        try:
            return work.run()
        except LeaseLostError:
            raise
        except Exception:  # the edge of a run: whatever broke, the thread is told
            log.exception("run_broke")
            text = (
                "Something broke inside Patchwright; the service's log has the details "
                f"under run {job.id[:8]}."
            )
            outcome = Outcome(kind=OutcomeKind.FAILED, reason="internal", summary=text)
            return work.end(outcome)

    def _deliver(self, job: Job, lease: Lease) -> None:
        stores = self._services.stores
        outcome = job.outcome or Outcome(kind=OutcomeKind.FAILED, reason="internal")
        if not Delivery(self._services, job, outcome, lease).run():
            stores.leases.release(lease)
            return
        now = self._services.clock.now()
        following = stores.outcomes.finish(lease, _state_at_end(outcome), now)
        log.info("job_finished", outcome=outcome.kind, reason=outcome.reason)
        if following is not None:
            self._services.submit(following)


def _effects(done: Done) -> tuple[Effect, ...]:
    if done.quiet:
        return ()
    if done.plan.target is None:
        return (FinalMessage(),)
    return plan_effects(done.outcome, done.plan.target)


def _state_at_end(outcome: Outcome) -> JobState:
    if outcome.kind is OutcomeKind.FAILED:
        return JobState.FAILED
    if outcome.kind is OutcomeKind.STOPPED:
        return JobState.CANCELLED
    return JobState.DONE
