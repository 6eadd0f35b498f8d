"""Read and follow a run, at a cost that does not grow with its log."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.events.log import EventLog, Notifier
from patchwright.core.events.state import find_attempts
from patchwright.core.events.types import Event
from patchwright.core.types.base import Value
from patchwright.resolver.job import Job, is_over
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.run_store import DIFF
from patchwright.workers.runs.run_row import SUMMARY_KINDS, RunSummary, update_summary
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.run_store import delivery_results_of

EVENTS_PER_PAGE: Final = 200
_NO_END: Final = 2**31 - 1


class EventSpan(Value):
    """Which events of a conversation are those of one run; none if 0 is the first."""

    first: int = 0
    last: int = _NO_END


@dataclass(frozen=True)
class RunReader:
    """Reads runs from the stores of this process."""

    jobs: JobStore
    events: EventStore
    outcomes: OutcomeStore
    effects: EffectStore

    def log_of(self, job: Job) -> EventLog:
        return self.events.open(job.conversation_id)

    def summarize(self, job: Job, span: EventSpan) -> RunSummary:
        return update_summary(RunSummary(), self.summary_events(job, span))

    def summary_events(self, job: Job, span: EventSpan) -> Sequence[Event]:
        """Return the events of a run that a summary of it is folded from."""
        if not span.first:
            return ()
        kinds = SUMMARY_KINDS | {"request_blocked"}
        return self.log_of(job).read(span.first, span.last, kinds=kinds)

    def event(self, job: Job, span: EventSpan, event_id: int) -> Event | None:
        """Return one event of the run, None where it has none with that id."""
        if not span.first <= event_id <= span.last or not span.first:
            return None
        return next(iter(self.log_of(job).read(event_id, event_id)), None)

    def delivered(self, job: Job) -> DeliveryResult:
        return delivery_results_of(self.effects.of_job(job.id))

    def diff(self, job: Job) -> str:
        """Return the change as it was kept for reading, empty if there is none."""
        kept = self.outcomes.load_artifact(job.id, DIFF)
        return (kept or b"").decode("utf-8", "replace")

    def span(self, job: Job) -> EventSpan:
        """Find the run's events among those of the conversation."""
        changes = self.log_of(job).read(kinds=frozenset({"state_changed"}))
        first, last = 0, _NO_END
        for event_id, attempt in find_attempts(changes):
            if attempt.run_id == job.id:
                first = first or event_id
            elif first:
                last = event_id - 1
                break
        return EventSpan(first=first, last=last)

    def page(self, job: Job, span: EventSpan, before: int | None) -> Sequence[Event]:
        """Return the newest events of the run, or those before one of them."""
        if not span.first:
            return ()
        last = span.last if before is None else min(before - 1, span.last)
        newest = self.log_of(job).read(
            span.first, last, limit=EVENTS_PER_PAGE, reverse=True
        )
        return tuple(reversed(newest))

    def after(self, job: Job, span: EventSpan, event_id: int) -> Sequence[Event]:
        if not span.first:
            return ()
        first = max(event_id + 1, span.first)
        return self.log_of(job).read(first, span.last, limit=EVENTS_PER_PAGE)


# The state of a run can change without an event.
LOOK_AGAIN_S: Final = 1.0


def follow_until_end(
    reader: RunReader, notifier: Notifier, job: Job, show: Callable[[Event], None]
) -> Job:
    """Hand over each event as it comes; return the job when it has ended."""
    span, seen = EventSpan(), 0
    with notifier.listen(job.conversation_id) as wakeup:
        while True:
            wakeup.clear()
            # Asked before the events: what ended it is among them then.
            job = reader.jobs.load(job.id) or job
            span = span if span.first else reader.span(job)
            while events := reader.after(job, span, seen):
                for event in events:
                    show(event)
                seen = events[-1].id
            if is_over(job):
                return job
            wakeup.wait(LOOK_AGAIN_S)
