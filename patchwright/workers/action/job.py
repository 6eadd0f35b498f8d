"""Take in the one request, and work on it until nothing is left or it is cancelled."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import reduce
from types import FrameType
from typing import Final

import structlog

from patchwright.core.ci.system import ActionRequest, CiWords
from patchwright.core.events.actions import ChangeState
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.state import RunState, fold
from patchwright.core.system.signals import signal_handlers
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.core.webhook import make_own_delivery
from patchwright.resolver.job import Job
from patchwright.workers.compose import ServiceParts
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.jobs.worker import JobWorker
from patchwright.workers.store.effects import EffectState

# GitHub sends SIGINT first, SIGTERM seven and a half seconds later, and then the end;
# GitLab's runner sends SIGTERM alone.
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def when_cancelled(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` in a thread of its own, once, at the first of the signals."""

    def tell(_number: int, _frame: FrameType | None) -> None:
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        # Not here: the thread that was interrupted may hold what this has to wait for.
        threading.Thread(target=act, name="cancelling", daemon=True).start()

    with signal_handlers(dict.fromkeys(_SIGNALS, tell)):
        yield


# How long a run may take to end by itself once it is cancelled; the rest of the ten
# seconds is for telling people.
_CANCEL_GRACE_S: Final = 3.0
# After the time of the run, what could not be delivered is tried again for so long.
DELIVERY_TIME: Final = timedelta(minutes=10)

log = structlog.get_logger(__name__)


def store_request(base: ServiceParts, asked: ActionRequest) -> JobId:
    """Store the request as the service does; return its job."""
    delivery = make_own_delivery(
        base.plugin.name, asked.trigger.key, asked.trigger, base.clock.now()
    )
    recorder = Recorder(base.stores.events, RandomIds())
    with base.database.writing() as connection:
        stored = recorder.record(connection, delivery)
    if stored.job_id is None:
        raise LookupError(f"no job was made for {asked.trigger.key}: {stored.verdict}")
    return stored.job_id


class JobRun:
    """One job, until it has ended and all is delivered, or the time is up."""

    def __init__(
        self, base: ServiceParts, runner: JobWorker, job_id: JobId, words: CiWords
    ) -> None:
        self._base, self._runner, self._job_id = base, runner, job_id
        self._cancelled_by = f"somebody who cancelled the {words.run}"
        self._cancelled, self._ended = threading.Event(), threading.Event()
        self._finished = threading.Event()
        limits = base.settings.limits
        longest = timedelta(minutes=limits.timeout_minutes) + DELIVERY_TIME
        self._until = base.clock.now() + longest

    def run(self) -> Job:
        """Work in a separate thread; return the job as it is then.

        The main thread only waits, because it receives the signals.
        """
        with when_cancelled(self._cancel):
            threading.Thread(target=self._run, name="run", daemon=True).start()
            self._finished.wait()
        return self._load()

    def _run(self) -> None:
        try:
            self._work()
        finally:
            self._ended.set()
            # After a cancel, that thread says when all messages are sent.
            if not self._cancelled.is_set():
                self._finished.set()

    def _work(self) -> None:
        while not self._cancelled.is_set():
            for job_id in self._base.stores.jobs.take_unfinished(0.0):
                self._runner.run(job_id)
            wait_s = self._seconds_to_next()
            if wait_s is None:
                return
            log.info("delivery_waits", seconds=round(wait_s))
            self._cancelled.wait(wait_s)

    def _seconds_to_next(self) -> float | None:
        """Return how long it is to the next effect; None if there is none in time."""
        stored = self._base.stores.effects.of_job(self._job_id)
        pending = [one for one in stored if one.state is EffectState.PENDING]
        if not pending or pending[0].due_at > self._until:
            return None
        left = pending[0].due_at - self._base.clock.now()
        return max(0.0, left.total_seconds())

    def _cancel(self) -> None:
        """Stop as after a person's `stop`; abort a run that does not stop in time."""
        log.info("cancelled")
        self._cancelled.set()
        try:
            job = self._load()
            events = self._base.stores.events.open(job.conversation_id)
            stop = ChangeState(state=AgentState.STOPPED, reason=self._cancelled_by)
            events.append(Source.SYSTEM, stop)
            if not self._ended.wait(_CANCEL_GRACE_S):
                self._runner.end_early(self._job_id, self._stopped(job))
                # One that was about to be delivered is, if it does not take long.
                self._ended.wait(_CANCEL_GRACE_S)
        finally:
            self._finished.set()

    def _stopped(self, job: Job) -> Outcome:
        """Return how it ended that did not come to its end, with its cost."""
        log_ = self._base.stores.events.open(job.conversation_id)
        state = reduce(fold, log_.read(), RunState())
        text = f"Stopped by {self._cancelled_by}; its work is lost."
        return Outcome(
            kind=OutcomeKind.STOPPED,
            reason="cancelled",
            summary=text,
            service_text=text,
            usage=state.usage,
            iterations=state.iterations,
        )

    def _load(self) -> Job:
        job = self._base.stores.jobs.load(self._job_id)
        if job is None:
            raise LookupError(f"job {self._job_id} is gone")
        return job
