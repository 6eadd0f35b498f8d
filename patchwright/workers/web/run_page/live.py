"""Follow a run in the browser, as server-sent events."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Final

from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from patchwright.core.events.log import Notifier
from patchwright.core.system.clock import Clock
from patchwright.resolver.job import Job, is_over
from patchwright.workers.runs.reader import EventSpan, RunReader
from patchwright.workers.runs.run_row import RunSummary, update_summary
from patchwright.workers.web.run_page.actions import turn_of
from patchwright.workers.web.run_page.html import head_html, part_html
from patchwright.workers.web.run_page.steps import StepReader, count_replies
from patchwright.workers.web.run_page.views import run_head
from patchwright.workers.web.server_sent import (
    AsyncNotifier,
    event_stream,
    message,
)

# Then the browser comes again by itself, with what it has seen.
# https://html.spec.whatwg.org/multipage/server-sent-events.html
STREAM_S: Final = 60.0
# The state of a run can change without an event.
LOOK_AGAIN_S: Final = 5.0
MOST_VIEWERS: Final = 100
_RETRY_MS: Final = 1000


@dataclass
class LiveUpdates:
    """Serves those who watch; none of them holds a thread."""

    reader: RunReader
    notifier: Notifier
    clock: Clock
    stream_s: float = STREAM_S
    look_again_s: float = LOOK_AGAIN_S
    most_viewers: int = MOST_VIEWERS
    _viewers: int = field(default=0, init=False)

    def follow(self, job: Job, after: int) -> Response:
        """Send what comes after an event, until the run is over or time is up."""
        if self._viewers >= self.most_viewers:
            return Response(status_code=503, headers={"Retry-After": "30"})
        return event_stream(self._stream(job, after))

    async def _stream(self, job: Job, after: int) -> AsyncIterator[str]:
        self._viewers += 1
        try:
            async for part in self._tell(job, after):
                yield part
        finally:
            self._viewers -= 1

    async def _tell(self, job: Job, after: int) -> AsyncIterator[str]:
        wakeup = AsyncNotifier()
        yield f"retry: {_RETRY_MS}\n\n"
        ends_at = self.clock.monotonic() + self.stream_s
        with self.notifier.attach(job.conversation_id, wakeup):
            view = _BrowserUpdates(self.reader, self.clock, job, after)
            while True:
                for part in await run_in_threadpool(view.news):
                    yield part
                if view.is_over or self.clock.monotonic() >= ends_at:
                    return
                await wakeup.wait(self.look_again_s)


class _BrowserUpdates:
    """What one browser has seen of a run."""

    def __init__(self, reader: RunReader, clock: Clock, job: Job, after: int) -> None:
        self._reader, self._clock, self._job = reader, clock, job
        self._after = after
        self._span = EventSpan()
        self._known = RunSummary()
        self._steps = StepReader(0)
        self._head = ""
        self._turn = ""
        self.is_over = False

    def news(self) -> list[str]:
        return list(self._news())

    def _news(self) -> Iterator[str]:
        # Asked before the events: what ended it is among them then.
        job = self._reader.jobs.load(self._job.id) or self._job
        if not self._span.first:
            self._begin(job)
        while events := self._reader.after(job, self._span, self._after):
            self._known = update_summary(self._known, events)
            self._after = events[-1].id
            changed = (self._steps.add(event) for event in events)
            newest = {part.id: part for part in changed if part}
            # Whoever comes again after any of them has all the others before it.
            for part in sorted(newest.values(), key=lambda one: one.last_id):
                yield message("part", part_html(job.id, part), part.last_id)
        head = head_html(run_head(job, self._known, self._clock.now()))
        if head != self._head:
            self._head = head
            yield message("head", head)
        turn = turn_of(job)
        if turn != self._turn:
            self._turn = turn
            yield message("turn", turn)
        self.is_over = is_over(job)
        if self.is_over:
            yield message("end", "")

    def _begin(self, job: Job) -> None:
        """Read what the browser has, as its newest step may go on."""
        self._span = self._reader.span(job)
        summary = self._reader.summary_events(job, self._span)
        self._known = update_summary(RunSummary(), summary)
        seen = self._reader.page(job, self._span, self._after + 1)
        first = seen[0].id if seen else self._after + 1
        self._steps = StepReader(count_replies(summary, before=first))
        for event in seen:
            self._steps.add(event)
