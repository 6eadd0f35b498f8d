"""Attempts at a run: earlier attempts, and reasons to end a run before it begins."""

from dataclasses import replace
from typing import Final

import structlog
from pydantic import ValidationError

from patchwright.core.events.actions import ChangeState
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import AttemptStart, StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.state import find_attempts
from patchwright.core.events.types import Event
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.base import JobId, Value
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import ASKED, Outcome, service_outcome
from patchwright.resolver.job import Job
from patchwright.resolver.messages.status import in_state, mark
from patchwright.resolver.run import End, Run, end, end_if, skipped_on_resume
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan
from patchwright.resolver.services import StepServices
from patchwright.resolver.status_comment import make_message_header

INTERNAL: Final = "internal"
LOST: Final = "worker-lost"
_MOST: Final = 3

log = structlog.get_logger(__name__)


class JobAttempt(Value):
    """`start_id` is its first event; `earlier` has the first events of the others."""

    start_id: int
    earlier: tuple[int, ...] = ()

    def start_of(self, begun_id: int) -> int:
        """Return the first event of the attempt that wrote the event `begun_id`.

        Messages before it were answers to the job's questions.
        """
        return max(one for one in self.earlier if one < begun_id)


def begin_attempt(log: EventLog, job_id: JobId, number: int) -> JobAttempt:
    """Record that an attempt starts, and find the earlier attempts.

    The number does not count all of them: an attempt whose job a worker released
    in good order is not counted.
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
    return service_outcome(OutcomeKind.FAILED, LOST, text)


_CHANGES: Final = frozenset({"change_state", "state_changed"})


def find_stop(log: EventLog, job: Job, start_id: int) -> Outcome | None:
    """Return the outcome if an operator stopped the run before `start_id`.

    A run that has begun reads the stop command itself, and so keeps its work.
    """
    last = log.read(1, start_id - 1, limit=1, reverse=True, kinds=_CHANGES)
    actions = [one.payload for one in last if _is_operators(one, job)]
    for action in actions:
        if isinstance(action, ChangeState) and action.state is AgentState.STOPPED:
            text = f"Stopped by {action.reason}, before the run started."
            return service_outcome(OutcomeKind.STOPPED, ASKED, text)
    return None


def _is_operators(event: Event, job: Job) -> bool:
    """Tell whether an operator wrote the event, and for this job."""
    return event.source is Source.USER and event.at >= job.created_at


def find_closed_thread(run: Run) -> Outcome | None:
    """Return the outcome if the thread was closed while the run waited."""
    closed_at = run.store.closed_at(run.trigger.thread)
    if closed_at is None or closed_at <= run.job.created_at:
        return None
    text = "The thread was closed before the run started."
    return service_outcome(OutcomeKind.STOPPED, "thread-closed", text)


def find_answer_before_move(services: StepServices, run: Run) -> Outcome | None:
    """Return the outcome if the issue was moved here with our answer to its text.

    Then its text has asked before: where the forge tells of a moved issue as of a new
    one, its comments have come along, ours among them.
    """
    thread, forms = run.trigger.thread, services.directory.forge.forms
    is_opening = run.trigger.kind is TriggerKind.BODY_MENTION
    if not (forms.moved_are_new and is_opening and isinstance(thread, ForgeThread)):
        return None
    if run.store.find_last_run() is not None:
        return None
    channel = services.channel
    try:
        if channel.find_post(thread, in_state()) is None:
            return None
        if not channel.fetch_opening(thread).has_moved:
            return None
        answered = (in_state(kind) for kind in OutcomeKind if kind.is_success)
        if all(channel.find_post(thread, one) is None for one in answered):
            return None
    except ServiceError as error:
        log.warning("move_unknown", reason=error.reason, error=str(error))
        return None
    text = "The issue was moved here with the answer to its text. Mention me again."
    return service_outcome(OutcomeKind.NO_CHANGE, "moved", text)


def find_earlier_post(services: StepServices, job: Job) -> str:
    """Return the status comment of an earlier attempt, empty if it cannot be found."""
    try:
        return services.channel.find_post(job.trigger.thread, mark(job.id)) or ""
    except ServiceError as error:
        log.warning("earlier_status_not_found", reason=error.reason)
        return ""


def restore_plan(services: StepServices, job: Job, stored: bytes | None) -> RunPlan:
    """Read the stored plan of a run, or make one with only a header.

    A plan that cannot be read must not stop the run from ending.
    """
    try:
        return RunPlan.model_validate_json(stored or b"{}")
    except ValidationError as error:
        log.error("plan_unreadable", problems=error.error_count())  # noqa: TRY400 - its text may contain messages of people
    frame = make_message_header(services, job, RepositoryConfig())
    return RunPlan(frame=frame, status_post=find_earlier_post(services, job))


def internal_failure(job_id: JobId) -> Outcome:
    text = (
        "Something broke inside Patchwright; the service's log has the details under "
        f"run {job_id[:8]}."
    )
    return service_outcome(OutcomeKind.FAILED, INTERNAL, text)


def is_internal_failure(outcome: Outcome) -> bool:
    """Tell whether the run failed inside Patchwright before it made a commit."""
    return outcome.reason in (INTERNAL, LOST) and not outcome.head_sha


def mark_start(services: StepServices, run: Run) -> Run | End:
    """Record that this attempt starts, and continue an earlier one if there is one."""
    attempt = begin_attempt(run.log, run.job.id, run.attempt)
    run = replace(run, start_id=attempt.start_id)
    if not attempt.earlier:
        return run
    post = find_earlier_post(services, run.job)
    run = replace(run, plan=run.plan.replace(status_post=post))
    stored_plan = run.store.load_kept(PLAN_ARTIFACT)
    begun = run.log.read(attempt.earlier[0], kinds=frozenset({"run_started"}))
    if stored_plan is None or not begun:
        return run
    return replace(
        run,
        start_id=attempt.start_of(begun[0].id),
        plan=RunPlan.model_validate_json(stored_plan).replace(status_post=post),
        has_begun=True,
    )


def give_up_if_lost(services: StepServices, run: Run) -> Run | End:
    return end_if(services, run, lost_too_often(run.attempt))


@skipped_on_resume
def stop_if_cancelled(services: StepServices, run: Run) -> Run | End:
    return end_if(services, run, find_stop(run.log, run.job, run.start_id))


@skipped_on_resume
def stop_if_closed(services: StepServices, run: Run) -> Run | End:
    return end_if(services, run, find_closed_thread(run))


@skipped_on_resume
def stop_if_answered_before_move(services: StepServices, run: Run) -> Run | End:
    """End without a word: whoever moved the issue has not asked again."""
    moved = find_answer_before_move(services, run)
    return run if moved is None else end(services, run, moved, quiet=True)
