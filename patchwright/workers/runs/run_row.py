"""A run as one row of a list, from its job and its events."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, assert_never

from patchwright.core.events import types as ev
from patchwright.core.events.state import ModelCallTotals, read_call
from patchwright.core.replay.trajectory import RunFacts
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Evidence, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import ForgeThread, ThreadKind, listed_name
from patchwright.core.types.work import Limits, Outcome, Usage
from patchwright.resolver.job import Job, JobState, outcome_of
from patchwright.resolver.messages.outcome_kinds import (
    Tone,
    display_of,
    is_paused,
    outcome_title,
    outcome_tone,
)
from patchwright.workers.runs.selection import RunStage

# The kinds of events that say anything of it.
SUMMARY_KINDS: Final = frozenset(
    {
        "evidence_recorded",
        "model_called",
        "model_reply",
        "outcome_reached",
        "proof_started",
        "raise_limits",
        "run_started",
        "state_changed",
        "write_todos",
    }
)


class RunSummary(Value):
    """Folded up to the event `last_id`; `limits` are those that hold by now.

    `worked_s` are the seconds of what has ended, by an end or a wait for somebody, and
    `began_at` tells since when it works, None where it does not.
    """

    title: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    limits: Limits | None = None
    evidence: tuple[Evidence, ...] = ()
    todos: tuple[ev.Todo, ...] = ()
    totals: ModelCallTotals = ModelCallTotals()
    steps: int = 0
    worked_s: float = 0.0
    began_at: datetime | None = None
    last_id: int = 0

    def seconds_worked(self, now: datetime) -> float:
        if self.began_at is None:
            return self.worked_s
        return self.worked_s + max(0.0, (now - self.began_at).total_seconds())


def update_summary(known: RunSummary, events: Iterable[ev.Event]) -> RunSummary:
    """Return what is known after more events; those already read do not count."""
    new = [one for one in events if one.id > known.last_id]
    if not new:
        return known
    # Most of them are replies, of which a long run has thousands.
    replies = sum(isinstance(one.payload, ev.ModelReply) for one in new)
    totals = known.totals.with_calls(filter(None, map(read_call, new)))
    for event in new:
        known = _after(known, event)
    return known.replace(steps=known.steps + replies, totals=totals, last_id=new[-1].id)


def _after(known: RunSummary, event: ev.Event) -> RunSummary:
    match event.payload:
        case ev.RunStarted(task=task, limits=limits, model=model):
            return known.replace(
                title=task.title, notes=task.notes, limits=limits, model=model
            )
        case ev.RaiseLimits() as more:
            return known.replace(limits=known.limits and _raised(known.limits, more))
        case ev.ProofStarted():
            return known.replace(evidence=())
        case ev.EvidenceRecorded(evidence=evidence):
            return known.replace(evidence=(*known.evidence, evidence))
        case ev.WriteTodos(todos=todos, agent=""):
            return known.replace(todos=todos)
        case ev.StateChanged(attempt=ev.AttemptStart()):
            return known.replace(began_at=event.at)
        case ev.OutcomeReached(outcome=outcome):
            worked_s = known.worked_s + outcome.seconds
            return known.replace(worked_s=worked_s, began_at=None)
        case _:
            return known


def _raised(limits: Limits, more: ev.RaiseLimits) -> Limits:
    return limits.replace(
        max_iterations=limits.max_iterations + more.iterations,
        max_cost_usd=limits.max_cost_usd + more.cost_usd,
    )


LOCAL_PLACE: Final = "local"
_NUMBER_MARKS: Final = (ThreadKind.ISSUE.mark, ThreadKind.MERGE_REQUEST.mark)


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
    `requester_name` is there where the `requester` is an id that nobody reads.
    `branch`, `pr_url` and `patch` say where the result of a local run is, and
    `position` which place in the queue a run has that waits for a worker, from 1.
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
    branch: str = ""
    pr_url: str = ""
    patch: str = ""
    position: int | None = None
    requester_name: str = ""

    @property
    def asked_by(self) -> str:
        return self.requester_name or self.requester


class RunFilter(Value):
    """Which runs are to be listed; what is None or empty does not matter.

    `source` is the service that the request came from, and `text` a part of the title.
    """

    stage: RunStage | None = None
    outcome: OutcomeKind | None = None
    source: str = ""
    requester: str = ""
    repo: str = ""
    text: str = ""

    def has(self, run: RunRow) -> bool:
        return (
            self.stage in (None, run.stage)
            and self.outcome in (None, run.outcome)
            and self.source in ("", run.source)
            and self.requester in ("", run.requester, run.requester_name)
            and self.repo in ("", run.repo)
            and self.text.casefold() in run.title.casefold()
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
        thread=thread_name(
            listed_name(trigger.thread),
            repo,
            is_beside=isinstance(trigger.thread, ForgeThread),
        ),
        title=trigger.title or known.title,
        requester=trigger.asker.login,
        asked_at=job.created_at,
        steps=outcome.iterations if outcome else known.steps,
        usage=outcome.usage if outcome else known.totals.usage,
        limits=known.limits,
    )


def row_of_log(run_id: str, facts: RunFacts, owner: str = "") -> RunRow:
    """Return a run of the command line by what its log says; `owner` has the log."""
    return RunRow(
        id=run_id,
        place=LOCAL_PLACE,
        stage=RunStage.ENDED if facts.outcome else RunStage.UNFINISHED,
        outcome=facts.outcome or "",
        reason=facts.reason,
        proof=facts.proof,
        source=LOCAL_PLACE,
        repo=facts.repository,
        thread="",
        title=facts.title,
        requester=owner,
        asked_at=facts.started_at,
        steps=facts.iterations,
        usage=facts.usage,
        limits=facts.limits,
        branch=facts.branch,
        pr_url=facts.pull_request_url,
        patch=facts.patch,
    )


def stage_of(state: JobState) -> RunStage:
    return next(stage for stage, states in STATES.items() if state in states)


def thread_name(short: str, repo: str, *, is_beside: bool) -> str:
    """Add the repository to a number there; `is_beside` says that it is one there."""
    is_numbered = is_beside and short[:1] in _NUMBER_MARKS
    return f"{repo}{short}" if is_numbered else short


def state_words(job: Job) -> str:
    """Say in a word or two how a run stands."""
    return state_and_tone(job)[0]


def state_and_tone(job: Job) -> tuple[str, Tone]:
    match job.state:
        case JobState.RECEIVED | JobState.QUEUED:
            return "Queued", "plain"
        case JobState.RUNNING:
            return "Working on it", "open"
        case JobState.DELIVERING:
            return "Delivering", "open"
        case JobState.WAITING_USER:
            return _wait_title(job.outcome), "open"
        case JobState.DONE | JobState.FAILED | JobState.CANCELLED:
            if job.outcome is None:
                lost = display_of(OutcomeKind.FAILED)
                return lost.title, lost.tone
            return outcome_title(job.outcome), outcome_tone(job.outcome)
        case _:
            assert_never(job.state)


def _wait_title(outcome: Outcome | None) -> str:
    if outcome is not None and is_paused(outcome):
        return outcome_title(outcome)
    return "Needs you"


def state_of_row(run: RunRow) -> tuple[str, Tone]:
    """Say in a word or two how a listed run stands, as its page does."""
    match run.stage:
        case RunStage.QUEUED:
            return "Queued", "plain"
        case RunStage.RUNNING:
            return "Working on it", "open"
        case RunStage.DELIVERING:
            return "Delivering", "open"
        case RunStage.WAITING:
            return _wait_title(_outcome_of(run)), "open"
        case RunStage.ENDED | RunStage.UNFINISHED:
            return _ending(run)
        case _:
            assert_never(run.stage)


def _ending(run: RunRow) -> tuple[str, Tone]:
    outcome = _outcome_of(run)
    if outcome is None:
        lost = display_of(OutcomeKind.FAILED)
        return lost.title, lost.tone
    return outcome_title(outcome), outcome_tone(outcome)


def _outcome_of(run: RunRow) -> Outcome | None:
    if not run.outcome:
        return None
    return Outcome(
        kind=OutcomeKind(run.outcome),
        reason=run.reason,
        waits=run.stage is RunStage.WAITING,
        proof=Proof(run.proof),
    )


def repository_text(run: RunRow) -> str:
    """Name the repository, with the number of the issue there if that asked."""
    is_there = bool(run.repo) and run.thread.startswith(run.repo)
    return run.thread if is_there else run.repo


def origin_text(run: RunRow) -> str:
    """Name the service that the request came from, and the channel or ticket there."""
    is_there = run.thread == repository_text(run)
    return run.source if is_there else f"{run.source} {run.thread}".strip()


_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def age_text(asked_at: datetime | None, now: datetime) -> str:
    """Write how long ago that was in its largest unit."""
    if asked_at is None:
        return "-"
    seconds = max(0, round((now - asked_at).total_seconds()))
    size, unit = next((one for one in _UNITS if seconds >= one[0]), _UNITS[-1])
    return f"{seconds // size}{unit}"
