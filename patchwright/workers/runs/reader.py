"""Read and follow a run, at a cost that does not grow with its log."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Final

from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog, Notifier
from patchwright.core.events.state import find_attempts
from patchwright.core.events.types import Event
from patchwright.core.types.base import JobId, Value
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


_NO_SUMMARY: Final = RunSummary()


@dataclass(frozen=True)
class RunDigest:
    """What the events of a run say, from its first up to `last_id`.

    `replies` are the ids of those that are steps. `costs` are what was asked of models
    before the first step, and then what each step cost, in USD. `blocked` counts the
    requests to a host and port.
    """

    first_id: int = 0
    last_id: int = 0
    summary: RunSummary = _NO_SUMMARY
    replies: tuple[int, ...] = ()
    costs: tuple[float, ...] = (0.0,)
    blocked: Mapping[tuple[str, int], int] = field(default_factory=dict)

    def with_events(self, events: Sequence[Event]) -> "RunDigest":
        """Return it with what came after `last_id`."""
        if not events:
            return self
        costs, blocked = list(self.costs), Counter(self.blocked)
        replies = list(self.replies)
        for event in events:
            match event.payload:
                case ev.ModelReply(usage=usage):
                    replies.append(event.id)
                    costs.append(usage.cost_usd or 0.0)
                case ev.ModelCalled(usage=usage):
                    costs[-1] += usage.cost_usd or 0.0
                case ev.RequestBlocked(host=host, port=port, count=count):
                    blocked[host, port] += count
                case _:
                    pass
        return replace(
            self,
            last_id=events[-1].id,
            summary=update_summary(self.summary, events),
            replies=tuple(replies),
            costs=tuple(costs),
            blocked=blocked,
        )

    def count_replies(self, before: int) -> int:
        """Count the replies before an event, each of which is a step."""
        return bisect_left(self.replies, before)

    @property
    def cost_by_step(self) -> tuple[float, ...]:
        """What each step cost in USD, with the other calls before the next one.

        What was asked of a model before the first step counts with that.
        """
        before, *steps = self.costs
        return (before + steps[0], *steps[1:]) if steps else ()


_DIGEST_KINDS: Final = SUMMARY_KINDS | {"request_blocked"}
_MOST_KNOWN: Final = 200


class _Digests:
    """Those of the runs that were asked about last: each event is read once."""

    def __init__(self) -> None:
        self._known: dict[JobId, RunDigest] = {}
        self._lock = Lock()

    def find(self, job_id: JobId) -> RunDigest | None:
        with self._lock:
            return self._known.get(job_id)

    def keep(self, job_id: JobId, digest: RunDigest) -> None:
        with self._lock:
            self._known.pop(job_id, None)
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[job_id] = digest


@dataclass(frozen=True)
class RunReader:
    """Reads runs from the stores of this process."""

    jobs: JobStore
    events: EventStore
    outcomes: OutcomeStore
    effects: EffectStore
    _digests: _Digests = field(default_factory=_Digests, init=False)

    def log_of(self, job: Job) -> EventLog:
        return self.events.open(job.conversation_id)

    def summarize(self, job: Job, span: EventSpan) -> RunSummary:
        return self.digest(job, span).summary

    def digest(self, job: Job, span: EventSpan) -> RunDigest:
        """Return what the events of a run say by now."""
        if not span.first:
            return RunDigest()
        known = self._digests.find(job.id)
        if known is None or known.first_id != span.first:
            known = RunDigest(first_id=span.first, last_id=span.first - 1)
        news = self.log_of(job).read(known.last_id + 1, span.last, kinds=_DIGEST_KINDS)
        known = known.with_events(news)
        self._digests.keep(job.id, known)
        return known

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
