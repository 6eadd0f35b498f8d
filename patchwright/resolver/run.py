"""One attempt at a job: its data, the type of its steps, and the ways it can end."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Protocol

import structlog

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Event
from patchwright.core.forge import Checks
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import (
    Outcome,
    error_outcome,
    service_outcome,
)
from patchwright.resolver.admission import Declined
from patchwright.resolver.context.thread_history import FilteredThreads
from patchwright.resolver.job import Job
from patchwright.resolver.messages.status import Progress
from patchwright.resolver.preparation import Prepared
from patchwright.resolver.publish import live
from patchwright.resolver.publish.destination import CrossPostTarget
from patchwright.resolver.publish.effects import AskPrivately
from patchwright.resolver.repository import is_answer
from patchwright.resolver.repository_references import ReferenceScope
from patchwright.resolver.run_plan import (
    AttemptResult,
    EarlyResult,
    MovedResult,
    RunPlan,
)
from patchwright.resolver.run_store import (
    JoinedRequest,
    LinkedThread,
    OtherConversation,
    RunStore,
)
from patchwright.resolver.services import StepServices

log = structlog.get_logger(__name__)


class ProgressView(AbstractContextManager[object], Protocol):
    """Shows people the progress of a run; a context manager."""

    def show(self, event: Event) -> None: ...


class StatusView(ProgressView, Protocol):
    @property
    def last(self) -> Progress:
        """The progress of the run."""
        ...


class CrossPostsView(ProgressView, Protocol):
    @property
    def saved(self) -> tuple[CrossPostTarget, ...]:
        """What the delivery needs to know about the cross-posts."""
        ...

    def list_current(self) -> tuple[CrossPostTarget, ...]:
        """Return the cross-posts, and the threads that were linked during the run."""
        ...


@dataclass(frozen=True)
class Run:
    """One attempt at one job; each step returns it with what the step found.

    `attempt` counts from 1. `log` is written from the event `start_id` on. With
    `has_begun` an earlier attempt has planned the run, and this attempt continues it.
    `joined` are the requests that came later. `identified` is the request with the
    forge account of its author. `scope` is what texts may refer to. `other` is the
    conversation of a thread that the request names. `checks` are the checks of the pull
    request, if they were read. `status` and `cross_posts` show the progress. `linked`
    are the threads of the conversation, and `filtered_threads` their comments that
    count. `prepared` was made from these comments.
    """

    job: Job
    attempt: int
    store: RunStore
    log: EventLog
    release_signal: ReleaseSignal
    plan: RunPlan
    joined: tuple[JoinedRequest, ...] = ()
    start_id: int = 0
    has_begun: bool = False
    identified: Trigger | None = None
    scope: ReferenceScope | None = None
    other: OtherConversation | None = None
    checks: Checks | None = None
    status: StatusView | None = None
    cross_posts: CrossPostsView | None = None
    linked: tuple[LinkedThread, ...] = ()
    filtered_threads: FilteredThreads | None = None
    prepared: Prepared | None = None

    @property
    def trigger(self) -> Trigger:
        return self.job.trigger

    @property
    def answers(self) -> list[Trigger]:
        """The requester's later messages, oldest first."""
        own = self.trigger.actor
        return [one.trigger for one in self.joined if is_by(one, own)]

    @property
    def last_joined_id(self) -> int:
        """The newest event of the requests that this attempt has read."""
        return self.joined[-1].event_id if self.joined else 0

    def with_trigger(self, trigger: Trigger) -> "Run":
        return replace(self, job=self.job.replace(trigger=trigger))


End = AttemptResult | MovedResult
Step = Callable[[StepServices, "Run"], "Run | End"]


def follow(services: StepServices, run: Run, steps: Iterable[Step]) -> Run | End:
    """Take the steps in order, until one of them ends the run."""
    for step in steps:
        found = step(services, run)
        if not isinstance(found, Run):
            return found
        run = found
    return run


def skipped_on_resume(step: Step) -> Step:
    """Skip a step if an earlier attempt has planned the run already."""

    @wraps(step)
    def take(services: StepServices, run: Run) -> Run | End:
        return run if run.has_begun else step(services, run)

    return take


def is_by(one: JoinedRequest, person: Actor) -> bool:
    return one.trigger.actor.is_same(person)


def find_scope(services: StepServices, run: Run) -> ReferenceScope:
    """Return what texts can refer to, which stays the same for the whole run."""
    return services.chat.find_places() if run.scope is None else run.scope


def answered_up_to(services: StepServices, run: Run) -> int:
    """Return the last event of the leading answers in the queue.

    Other messages that came meanwhile were not read: they get a job of their own.
    """
    last, asker = 0, run.trigger.actor
    if not (run.joined and isinstance(run.trigger.thread, TalkThread)):
        return last
    scope = find_scope(services, run)
    for one in run.joined:
        if not (is_by(one, asker) and is_answer(one.trigger.request, scope)):
            break
        last = one.event_id
    return last


def end(
    services: StepServices, run: Run, outcome: Outcome, *, quiet: bool = False
) -> AttemptResult:
    """End the job with what is known so far."""
    read_up_to = answered_up_to(services, run)
    return AttemptResult(outcome, run.plan, read_up_to=read_up_to, quiet=quiet)


def end_if(services: StepServices, run: Run, outcome: Outcome | None) -> Run | End:
    return run if outcome is None else end(services, run, outcome)


def end_early(services: StepServices, run: Run, found: EarlyResult) -> AttemptResult:
    done = AttemptResult(
        found.outcome, run.plan, found.read_up_to, effects=found.effects
    )
    return done.read(answered_up_to(services, run))


def fail(
    services: StepServices, run: Run, error: PatchwrightError, *, quiet: bool = False
) -> AttemptResult:
    return end(services, run, error_outcome(error), quiet=quiet)


def decline(services: StepServices, run: Run, judged: Declined) -> AttemptResult:
    log.info("request_declined", reason=judged.reason, text=judged.text)
    outcome = service_outcome(
        OutcomeKind.REFUSED, judged.reason, judged.text, by=judged.by
    )
    # A run that started automatically needs no refusal.
    nobody_asked = run.trigger.kind.is_automatic
    if judged.quiet and not (judged.silent or nobody_asked):
        live.decline(services.live, services.channel, run.trigger)
    if run.trigger.thread.kind is ThreadKind.CHAT and not judged.silent:
        # Other people need not know that this person lacks permission.
        early = EarlyResult(outcome, (AskPrivately(text=judged.text),))
        return end_early(services, run, early)
    # A ticket has no reactions, so a quiet refusal needs a text there.
    has_words = run.trigger.thread.kind is ThreadKind.TICKET and not judged.silent
    is_quiet = judged.quiet and not has_words
    return end(services, run, outcome, quiet=is_quiet or nobody_asked)
