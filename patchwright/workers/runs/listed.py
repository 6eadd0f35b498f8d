"""A run as it stands in a list, wherever it was kept."""

from datetime import datetime
from typing import Final

from patchwright.core.trajectory.document import RunFacts
from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread, ThreadRef
from patchwright.core.types.work import Limits, OutcomeKind, Usage
from patchwright.workers.runs.known import RunSummary
from patchwright.workers.runs.stage import RunStage
from patchwright.workers.store.job import Job, JobState, outcome_of

LOCAL_PLACE: Final = "local"


STATES: Final = {
    RunStage.QUEUED: (JobState.RECEIVED, JobState.QUEUED),
    RunStage.RUNNING: (JobState.RUNNING,),
    RunStage.WAITING: (JobState.WAITING_USER,),
    RunStage.DELIVERING: (JobState.DELIVERING,),
    RunStage.ENDED: (JobState.DONE, JobState.FAILED, JobState.CANCELLED),
    RunStage.UNFINISHED: (),
}


class RunRow(Value):
    """One run: `place` is `service`, or `local` for one of the command line.

    `outcome` is empty while there is none, and `limits` None before they were set.
    """

    id: str
    place: str
    stage: RunStage
    outcome: str
    reason: str
    proof: str
    source: str
    repo: str
    thread: str
    title: str
    requester: str
    asked_at: datetime | None
    steps: int
    usage: Usage
    limits: Limits | None


class RunFilter(Value):
    """Which runs are to be listed; what is None or empty does not matter."""

    stage: RunStage | None = None
    outcome: OutcomeKind | None = None
    repo: str = ""

    def has(self, run: RunRow) -> bool:
        return (
            self.stage in (None, run.stage)
            and self.outcome in (None, run.outcome)
            and self.repo in ("", run.repo)
        )


def row_of_job(job: Job, known: RunSummary) -> RunRow:
    """Return a run of the service; `known` is what its events say of it."""
    outcome, trigger = outcome_of(job), job.trigger
    repo = trigger.place.full_name if trigger.place else ""
    return RunRow(
        id=job.id,
        place="service",
        stage=stage_of(job.state),
        outcome=outcome.kind if outcome else "",
        reason=outcome.reason if outcome else "",
        proof=outcome.proof if outcome else "",
        source=trigger.thread.service,
        repo=repo,
        thread=_name_of(trigger.thread, repo),
        title=trigger.title or known.title,
        requester=trigger.asker.login,
        asked_at=job.created_at,
        steps=outcome.iterations if outcome else known.steps,
        usage=outcome.usage if outcome else known.totals.usage,
        limits=known.limits,
    )


def row_of_log(run_id: str, facts: RunFacts) -> RunRow:
    """Return a run of the command line by what its log says."""
    return RunRow(
        id=run_id,
        place=LOCAL_PLACE,
        stage=RunStage.ENDED if facts.outcome else RunStage.UNFINISHED,
        outcome=facts.outcome or "",
        reason=facts.reason,
        proof=facts.proof,
        source=LOCAL_PLACE,
        repo="",
        thread="",
        title=facts.title,
        requester="",
        asked_at=facts.started_at,
        steps=facts.iterations,
        usage=facts.usage,
        limits=facts.limits,
    )


def stage_of(state: JobState) -> RunStage:
    return next(stage for stage, states in STATES.items() if state in states)


def _name_of(thread: ThreadRef, repo: str) -> str:
    """Name the thread as people do, with the repository it is beside."""
    is_numbered = isinstance(thread, ForgeThread) and not thread.is_own
    return f"{repo}{thread.name}" if is_numbered else thread.name
