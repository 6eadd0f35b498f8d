"""Decide whether a job may start: access check, cancellation, earlier attempts."""

from datetime import timedelta
from functools import partial
from typing import Final

from patchwright.core.events.log import EventLog
from patchwright.core.events.state import find_attempts
from patchwright.core.events.types import (
    AgentState,
    AttemptStart,
    ChangeState,
    Event,
    Source,
    StateChanged,
)
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.types.base import ConversationId, JobId, Value
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.core.types.work import ASKED, Outcome, service_outcome
from patchwright.resolver.admission import (
    AdmissionPolicy,
    Admitted,
    Declined,
    check_access,
    repository_policy,
    start_trigger_of,
    trigger_actors,
)
from patchwright.resolver.messages.answers import PastRun
from patchwright.resolver.publish.destination import redact_for_public
from patchwright.workers.run.artifacts import delivery_results_of
from patchwright.workers.run.permissions import find_permission
from patchwright.workers.run.plan import PLAN_ARTIFACT, RunPlan
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.job import Job
from patchwright.workers.store.threads import ThreadStore


def fetch_config(services: RunServices, job: Job) -> RepositoryConfig:
    """Read the repository's wishes from its default branch; raises `ServiceError`."""
    overrides = services.overrides
    path = overrides.config_file
    said = services.code_host.forge.fetch_file(job.trigger.home, path)
    return overrides.applied_to(read_repository_config(said, path))


def policy_with(services: RunServices, config: RepositoryConfig) -> AdmissionPolicy:
    return repository_policy(services.policy, config)


def admit_request(
    services: RunServices, job: Job, config: RepositoryConfig
) -> Admitted | Declined:
    """Judge whoever took part in a request, by what the forge says of them now."""
    trigger, forge = job.trigger, services.code_host.forge
    since = services.clock.now() - timedelta(hours=1)
    runs = services.stores.jobs.count_since(job.conversation_id, since)
    return check_access(
        trigger_actors(trigger),
        policy_with(services, config),
        partial(find_permission, forge, trigger.home),
        start_trigger=start_trigger_of(trigger.kind),
        # This job is among them, unless nobody asked for it.
        runs_in_thread_last_hour=runs - (not trigger.kind.is_automatic),
    )


def last_run(
    services: RunServices, conversation_id: ConversationId, thread: ThreadRef
) -> PastRun | None:
    """Return the conversation's newest run that has ended, and what came of it.

    It is told in that thread, where everybody may read it.
    """
    stores = services.stores
    job = stores.jobs.newest_run(conversation_id)
    kept = stores.outcomes.load_artifact(job.id, PLAN_ARTIFACT) if job else None
    if job is None or job.outcome is None or kept is None:
        return None
    plan = RunPlan.model_validate_json(kept)
    hidden = None if isinstance(thread, TalkThread) else plan.hidden
    return PastRun(
        frame=plan.frame,
        trigger=job.trigger,
        outcome=redact_for_public(job.outcome, hidden),
        delivered=delivery_results_of(stores.effects.of_job(job.id)),
    )


_MOST = 3


class JobAttempt(Value):
    """`start_id` is the event it begins with; `earlier` are those of others."""

    start_id: int
    earlier: tuple[int, ...] = ()

    def start_of(self, begun_id: int) -> int:
        """Return where the attempt began in which that event was written.

        What was said before that was an answer to what the job had asked.
        """
        return max(one for one in self.earlier if one < begun_id)


def begin_attempt(log: EventLog, job_id: JobId, number: int) -> JobAttempt:
    """Mark that an attempt starts, and find those before it.

    The number does not say how many there were: one that was given back in good order
    is not counted.
    """
    starts = find_attempts(log.read(kinds=frozenset({"state_changed"})))
    earlier = tuple(one for one, attempt in starts if attempt.run_id == job_id)
    loading = StateChanged(
        state=AgentState.LOADING,
        reason=f"run {job_id}, attempt {number}",
        attempt=AttemptStart(run_id=job_id, number=number),
    )
    started = log.append(Source.SYSTEM, loading)
    return JobAttempt(start_id=started.id, earlier=earlier)


def lost_too_often(attempt: int) -> Outcome | None:
    if attempt <= _MOST:
        return None
    text = (
        f"The worker was lost {_MOST} times in the middle of this run, so it is "
        "not tried again. The service's log has the cause."
    )
    return service_outcome(OutcomeKind.FAILED, "worker-lost", text)


_CHANGES: Final = frozenset({"change_state", "state_changed"})


def find_stop(log: EventLog, job: Job, start_id: int) -> Outcome | None:
    """Return how a run ends if an operator's last word before `start_id` was stop.

    A run that has begun hears it itself, and so keeps what it has done.
    """
    last = log.read(1, start_id - 1, limit=1, reverse=True, kinds=_CHANGES)
    words = [one.payload for one in last if _is_operators(one, job)]
    for said in words:
        if isinstance(said, ChangeState) and said.state is AgentState.STOPPED:
            text = f"Stopped by {said.reason}, before it had begun."
            return service_outcome(OutcomeKind.STOPPED, ASKED, text)
    return None


def _is_operators(event: Event, job: Job) -> bool:
    """Tell whether an operator has said it, and not to an earlier job."""
    return event.source is Source.USER and event.at >= job.created_at


def find_closed_thread(threads: ThreadStore, job: Job) -> Outcome | None:
    """Return how a run ends whose thread was closed while it waited."""
    closed_at = threads.closed_at(job.trigger.thread)
    if closed_at is None or closed_at <= job.created_at:
        return None
    text = "The thread was closed before the run had begun."
    return service_outcome(OutcomeKind.STOPPED, "thread-closed", text)
