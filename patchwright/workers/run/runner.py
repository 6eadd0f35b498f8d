"""Run jobs when the queue says so, and find those that it lost."""

import threading
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.agent.attention import GivenBack
from patchwright.core.errors import LeaseLostError
from patchwright.core.types.ids import JobId
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.effects import Effect, plan_effects
from patchwright.workers.queue.errors import BrokerUnavailableError
from patchwright.workers.run.delivery import Delivery
from patchwright.workers.run.done import Done, Moved
from patchwright.workers.run.heartbeat import heartbeat
from patchwright.workers.run.interruption import InterruptibleSandboxes
from patchwright.workers.run.plan import ARTIFACT
from patchwright.workers.run.rehearsing import rehearsing
from patchwright.workers.run.services import Services
from patchwright.workers.run.showing import showing_of
from patchwright.workers.run.tickets import tickets_of
from patchwright.workers.run.work import Work
from patchwright.workers.store.job import Job, JobState, Lease

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _Running:
    """A job that this process runs; `given_back` is done when it must not go on."""

    lease: Lease
    given_back: GivenBack = field(default_factory=Future)

    def let_go(self) -> None:
        """End here whatever the run waits for; harmless when it was done before."""
        with suppress(InvalidStateError):
            self.given_back.set_result(None)


class Runner:
    """The `JobRunner` of a process; `worker` names it in leases."""

    def __init__(self, services: Services, worker: str) -> None:
        self._services, self._worker = services, worker
        self._lease_s = services.settings.queue.lease_s
        self._running: dict[JobId, _Running] = {}
        self._lock = threading.Lock()
        self._stopping = False

    def run(self, job_id: JobId) -> None:
        stores, clock = self._services.stores, self._services.clock
        running = self._claim(job_id)
        if running is None:
            return
        lease = running.lease
        self._services.warm_up()
        structlog.contextvars.bind_contextvars(
            job_id=job_id,
            conversation_id=lease.conversation_id,
            delivery_id=stores.jobs.delivery_of(job_id),
        )
        try:
            with heartbeat(stores.leases, lease, clock, self._lease_s, running.let_go):
                self._run_claimed(running)
        except LeaseLostError:
            log.info("lease_lost")
        finally:
            with self._lock:
                self._running.pop(job_id, None)
            structlog.contextvars.clear_contextvars()

    def sweep(self) -> None:
        now = self._services.clock.now()
        long_s = self._services.settings.queue.resubmit_after_s
        for job_id in self._services.stores.jobs.take_unfinished(now, long_s):
            self._submit(job_id)
        self._services.sandboxes.reap()

    def stop(self) -> None:
        """Give every running job back, and end here whatever it waits for."""
        if self._stopping:
            return
        with self._lock:
            self._stopping = True
            every_running = list(self._running.values())
        for running in every_running:
            try:
                self._services.stores.leases.release(running.lease)
            except (LeaseLostError, SQLAlchemyError) as error:
                # It can write nothing either; another worker gets it in any case.
                log.warning("job_not_given_back", error=type(error).__name__)
            running.let_go()

    def cut_off(self, job_id: JobId, outcome: Outcome) -> None:
        """End a job of this process in the middle, and tell people how it ended.

        What it has done is lost; one that is being delivered is left to its end.
        """
        stores, clock = self._services.stores, self._services.clock
        with self._lock:
            running = self._running.get(job_id)
        job = stores.jobs.load(job_id)
        if running is None or job is None or job.state is JobState.DELIVERING:
            return
        try:
            stores.leases.release(running.lease)
        except LeaseLostError:
            return
        running.let_go()
        lease = stores.leases.claim(job_id, self._worker, clock.now(), self._lease_s)
        if lease is None:
            return
        if lease.state is JobState.DELIVERING:
            # It has come to its own end meanwhile.
            self._deliver(stores.jobs.load(job_id) or job, lease)
            return
        services = self._services_for(lease)
        done = Work(services, job, lease, Future()).end(outcome)
        self._deliver_done(job, lease, done)

    @property
    def load(self) -> int:
        """How many jobs this process runs now."""
        return len(self._running)

    def _claim(self, job_id: JobId) -> _Running | None:
        """Take the job, unless this process is about to end."""
        with self._lock:
            if self._stopping:
                return None
            lease = self._services.stores.leases.claim(
                job_id, self._worker, self._services.clock.now(), self._lease_s
            )
            if lease is None:
                return None
            self._running[job_id] = _Running(lease)
            return self._running[job_id]

    def _run_claimed(self, running: _Running) -> None:
        stores, lease = self._services.stores, running.lease
        job = stores.jobs.load(lease.job_id)
        if job is None:
            return
        self._name_asker(job)
        if lease.state is JobState.DELIVERING:
            self._deliver(job, lease)
            return
        done = self._work(job, running)
        if isinstance(done, Moved):
            self._submit(done.job_id)
            return
        self._deliver_done(job, lease, done)

    def _name_asker(self, job: Job) -> None:
        """Let the log name their account from the first line on, if they have one."""
        host = self._services.settings.github.api_url
        account = self._services.stores.accounts.known(job.trigger.asker, host)
        if account is not None:
            structlog.contextvars.bind_contextvars(user_id=account)

    def _deliver_done(self, job: Job, lease: Lease, done: Done) -> None:
        stores, now = self._services.stores, self._services.clock.now()
        lease = stores.outcomes.store(
            lease,
            done.outcome,
            _effects(self._services, done, job, now),
            read_up_to=done.read_up_to,
            now=now,
            artifacts={
                **done.artifacts,
                ARTIFACT: done.plan.model_dump_json().encode(),
            },
        )
        # Where its code is, and whose it was, may have been found out meanwhile.
        self._deliver(stores.jobs.load(lease.job_id) or job, lease)

    def _services_for(self, lease: Lease) -> Services:
        """Return what a run works with: in a rehearsal, nothing that writes outside."""
        if self._services.orders.rehearses:
            return rehearsing(self._services, lease)
        return self._services

    def _work(self, job: Job, running: _Running) -> Done | Moved:
        services = self._services_for(running.lease)
        services = replace(
            services,
            sandboxes=InterruptibleSandboxes(
                services.sandboxes, running.given_back, for_another=True
            ),
        )
        work = Work(services, job, running.lease, running.given_back)
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
        if not Delivery(self._services_for(lease), job, outcome, lease).run():
            stores.leases.release(lease)
            return
        if outcome.waits:
            log.info("job_waits", reason=outcome.reason)
            if stores.outcomes.wait(lease):
                self._submit(job.id)
            return
        now = self._services.clock.now()
        following = stores.outcomes.finish(lease, _state_at_end(outcome), now)
        log.info("job_finished", outcome=outcome.kind, reason=outcome.reason)
        if following is not None:
            self._submit(following)

    def _submit(self, job_id: JobId) -> None:
        """Hand it to the queue; one that is away gets it at a later sweep."""
        try:
            self._services.submit(job_id)
        except BrokerUnavailableError as error:
            log.warning("job_not_submitted", job_id=job_id, reason=str(error))


def _effects(
    services: Services, done: Done, job: Job, now: datetime
) -> tuple[Effect, ...]:
    if done.effects is not None:
        return done.effects
    if done.quiet:
        return ()
    plan = done.plan
    tickets = tickets_of(services, job)
    showing = showing_of(done.outcome, plan, job.trigger, now, tickets)
    return plan_effects(done.outcome, plan.target, plan.config, showing)


def _state_at_end(outcome: Outcome) -> JobState:
    if outcome.kind is OutcomeKind.FAILED:
        return JobState.FAILED
    if outcome.kind is OutcomeKind.STOPPED:
        return JobState.CANCELLED
    return JobState.DONE
