"""Follow a run in the browser, as server-sent events.

However many watch a run, its log is read once: a feed renders what is new, and all of
them send the same texts.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Final, NamedTuple

from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from patchwright.core.events.log import Notifier
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId
from patchwright.resolver.job import Job, is_over
from patchwright.workers.runs.reader import EventSpan, RunReader
from patchwright.workers.runs.run_row import RunSummary, update_summary
from patchwright.workers.web.run_page.actions import turn_of
from patchwright.workers.web.run_page.html import head_html, part_html
from patchwright.workers.web.run_page.steps import LogStepReader
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
MOST_VIEWERS: Final = 1_000
# A browser that is further behind comes again, and is told by the log.
_MOST_KEPT: Final = 1_000
_RETRY_MS: Final = 1000


@dataclass
class LiveUpdates:
    """Serves those who watch; none of them holds a thread.

    `find_open_links` returns those of some links to runs that are open still.
    """

    reader: RunReader
    notifier: Notifier
    clock: Clock
    find_open_links: Callable[[frozenset[str]], frozenset[str]]
    stream_s: float = STREAM_S
    look_again_s: float = LOOK_AGAIN_S
    most_viewers: int = MOST_VIEWERS
    _viewers: int = field(default=0, init=False)
    _feeds: dict[JobId, "_Feed"] = field(default_factory=dict, init=False)

    def follow(self, job: Job, after: int, link_id: str = "") -> Response:
        """Send what comes after an event, until the run is over or time is up.

        `link_id` is the link without which they may not watch: it ends with that.
        """
        if self._viewers >= self.most_viewers:
            return Response(status_code=503, headers={"Retry-After": "30"})
        return event_stream(self._stream(job, after, link_id))

    async def _stream(self, job: Job, after: int, link_id: str) -> AsyncIterator[str]:
        self._viewers += 1
        feed = self._join(job, link_id)
        try:
            async for part in self._tell(feed, job, after, link_id):
                yield part
        finally:
            self._viewers -= 1
            self._leave(feed, job, link_id)

    def _join(self, job: Job, link_id: str) -> "_Feed":
        feed = self._feeds.get(job.id)
        if feed is None:
            feed = self._feeds[job.id] = _Feed(self, job)
        feed.viewers[link_id] += 1
        return feed

    def _leave(self, feed: "_Feed", job: Job, link_id: str) -> None:
        feed.viewers[link_id] -= 1
        if not +feed.viewers:
            feed.close()
            del self._feeds[job.id]

    async def _tell(
        self, feed: "_Feed", job: Job, after: int, link_id: str
    ) -> AsyncIterator[str]:
        yield f"retry: {_RETRY_MS}\n\n"
        ends_at = self.clock.monotonic() + self.stream_s
        # What comes after this is in the feed, and what came before is in the log.
        await feed.begun.wait()
        past = _RunNews(self.reader, self.clock, job, after)
        yield "".join(one.text for one in await run_in_threadpool(past.take))
        place = _Place(past.last_id, past.states)
        while not (past.is_over or feed.is_lost(place) or link_id in feed.closed_links):
            changed = feed.changed
            text, place = feed.since(place)
            if text:
                yield text
            left_s = ends_at - self.clock.monotonic()
            if feed.is_over or left_s <= 0:
                return
            await _wait(changed, left_s)


async def _wait(event: asyncio.Event, timeout_s: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), timeout_s)
    except TimeoutError:
        return


class _Message(NamedTuple):
    """What a browser is told; `event_id` is 0 where only the newest one counts."""

    event_id: int
    name: str
    text: str


class _Place(NamedTuple):
    """What a browser has been told: up to this event, and the newest of the others."""

    event_id: int
    states: Mapping[str, str]


class _Feed:
    """What is new of a run, for all who watch it; lives as long as one of them does.

    `changed` is set, and another one in its place, whenever there is more. `viewers`
    are counted by the link without which they may not watch, empty where there is none.
    Those whose link is one of `closed_links` are told nothing more.
    """

    def __init__(self, updates: LiveUpdates, job: Job) -> None:
        self.viewers: Counter[str] = Counter()
        self.closed_links: frozenset[str] = frozenset()
        self.begun, self.changed = asyncio.Event(), asyncio.Event()
        self.is_over = False
        self._updates, self._job = updates, job
        self._kept: deque[_Message] = deque()
        self._states: dict[str, str] = {}
        self._dropped_up_to = 0
        self._task = asyncio.create_task(self._run())

    def close(self) -> None:
        self._task.cancel()

    def is_lost(self, place: _Place) -> bool:
        """Tell whether it cannot say what came next, or has failed."""
        has_failed = self._task.done() and not self.is_over
        return has_failed or place.event_id < self._dropped_up_to

    def since(self, place: _Place) -> tuple[str, _Place]:
        """Return the messages that follow, and where they lead to."""
        is_new = partial(_is_after, place.event_id)
        news = [*takewhile(is_new, reversed(self._kept))][::-1]
        states = {
            name: text
            for name, text in self._states.items()
            if place.states.get(name) != text
        }
        texts = "".join((*(one.text for one in news), *states.values()))
        last_id = news[-1].event_id if news else place.event_id
        return texts, _Place(last_id, {**place.states, **states})

    async def _run(self) -> None:
        try:
            await self._follow()
        finally:
            # Whoever waits finds out that it says nothing more.
            self.begun.set()
            self.changed.set()

    async def _follow(self) -> None:
        updates, wakeup = self._updates, AsyncNotifier()
        with updates.notifier.attach(self._job.conversation_id, wakeup):
            log = updates.reader.log_of(self._job)
            newest = await run_in_threadpool(log.read, limit=1, reverse=True)
            after = newest[0].id if newest else 0
            self.begun.set()
            news = _RunNews(updates.reader, updates.clock, self._job, after)
            while not self.is_over:
                messages = await run_in_threadpool(news.take)
                # Asked after the events were read, and before anybody is told of them.
                await self._close_links()
                self._add(messages)
                self.is_over = news.is_over
                if not self.is_over:
                    await wakeup.wait(updates.look_again_s)

    def _add(self, messages: list[_Message]) -> None:
        for one in messages:
            if one.event_id:
                self._kept.append(one)
            else:
                self._states[one.name] = one.text
        while len(self._kept) > _MOST_KEPT:
            self._dropped_up_to = self._kept.popleft().event_id
        if messages:
            self._wake_all()

    async def _close_links(self) -> None:
        links = frozenset(+self.viewers) - {""} - self.closed_links
        if not links:
            return
        are_open = await run_in_threadpool(self._updates.find_open_links, links)
        if links - are_open:
            self.closed_links |= links - are_open
            self._wake_all()

    def _wake_all(self) -> None:
        told, self.changed = self.changed, asyncio.Event()
        told.set()


def _is_after(event_id: int, told: _Message) -> bool:
    return told.event_id > event_id


class _RunNews:
    """Reads what of a run comes after an event, and renders it."""

    def __init__(self, reader: RunReader, clock: Clock, job: Job, after: int) -> None:
        self._reader, self._clock, self._job = reader, clock, job
        self._span = EventSpan()
        self._known = RunSummary()
        self._steps = LogStepReader(0)
        self.last_id = after
        self.states: dict[str, str] = {}
        self.is_over = False

    def take(self) -> list[_Message]:
        return list(self._take())

    def _take(self) -> Iterator[_Message]:
        # Asked before the events: what ended it is among them then.
        job = self._reader.jobs.load(self._job.id) or self._job
        if not self._span.first:
            self._begin(job)
        while events := self._reader.after(job, self._span, self.last_id):
            self._known = update_summary(self._known, events)
            self.last_id = events[-1].id
            changed = (self._steps.add(event) for event in events)
            newest = {part.id: part for part in changed if part}
            # Whoever comes again after any of them has all the others before it.
            for part in sorted(newest.values(), key=lambda one: one.last_id):
                text = message("part", part_html(job.id, part), part.last_id)
                yield _Message(part.last_id, "part", text)
        self.is_over = is_over(job)
        head = head_html(run_head(job, self._known, self._clock.now()))
        states = {"head": head, "turn": turn_of(job)}
        if self.is_over:
            states["end"] = ""
        for name, html in states.items():
            text = message(name, html)
            if self.states.get(name) != text:
                self.states[name] = text
                yield _Message(0, name, text)

    def _begin(self, job: Job) -> None:
        """Read what the browser has, as its newest step may go on."""
        self._span = self._reader.span(job)
        known = self._reader.digest(job, self._span)
        self._known = known.summary
        seen = self._reader.page(job, self._span, self.last_id + 1)
        first = seen[0].id if seen else self.last_id + 1
        self._steps = LogStepReader(known.count_replies(before=first))
        for event in seen:
            self._steps.add(event)
