"""Follow the list of runs in the browser, as server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from patchwright.core.events.log import Notifier
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId
from patchwright.workers.runs.listing import MaySee, RunListing
from patchwright.workers.runs.run_row import RunFilter, RunRow
from patchwright.workers.web.server_sent import AsyncNotifier, event_stream, message

# Then the browser comes again by itself, and who may see what is asked again.
STREAM_S: Final = 60.0
# A run can begin, or change its state, without an event.
LOOK_AGAIN_S: Final = 2.0
PAUSE_S: Final = 0.5
MOST_VIEWERS: Final = 100
_RETRY_MS: Final = 2000


@dataclass
class LiveRows:
    """Serves those who watch the list; none of them holds a thread while it waits."""

    listing: RunListing
    notifier: Notifier
    clock: Clock
    stream_s: float = STREAM_S
    look_again_s: float = LOOK_AGAIN_S
    pause_s: float = PAUSE_S
    most_viewers: int = MOST_VIEWERS
    _viewers: int = field(default=0, init=False)

    def follow(
        self,
        wanted: RunFilter,
        may_see: MaySee | None,
        row_html: Callable[[RunRow], str],
    ) -> Response:
        """Send the newest runs, then those that are new or change, until time is up."""
        if self._viewers >= self.most_viewers:
            return Response(status_code=503, headers={"Retry-After": "30"})
        watch = _Watch(self.listing, wanted, may_see, row_html)
        return event_stream(self._stream(watch))

    async def _stream(self, watch: "_Watch") -> AsyncIterator[str]:
        self._viewers += 1
        try:
            async for part in self._tell(watch):
                yield part
        finally:
            self._viewers -= 1

    async def _tell(self, watch: "_Watch") -> AsyncIterator[str]:
        wakeup = AsyncNotifier()
        yield f"retry: {_RETRY_MS}\n\n"
        ends_at = self.clock.monotonic() + self.stream_s
        with self.notifier.attach_to_all(wakeup):
            while self.clock.monotonic() < ends_at:
                yield await run_in_threadpool(watch.news)
                # A busy installation has events all the time.
                await asyncio.sleep(self.pause_s)
                await wakeup.wait(self.look_again_s)


class _Watch:
    """What one browser has seen of the list."""

    def __init__(
        self,
        listing: RunListing,
        wanted: RunFilter,
        may_see: MaySee | None,
        row_html: Callable[[RunRow], str],
    ) -> None:
        self._listing, self._wanted = listing, wanted
        self._may_see, self._row_html = may_see, row_html
        self._seen: dict[str, RunRow] = {}

    def news(self) -> str:
        """Return the messages about what has changed, the newest run last.

        A run that does not fit the filter any more changes in place: nothing jumps.
        """
        page = self._listing.page(self._wanted, may_see=self._may_see)
        there = {one.id for one in page.rows}
        left = [JobId(one) for one in self._seen if one not in there]
        rows = [*page.rows, *(self._listing.rows_of(left) if left else ())]
        changed = [one for one in rows if self._seen.get(one.id) != one]
        self._seen = {one.id: one for one in rows}
        return "".join(message("row", self._row_html(one)) for one in reversed(changed))
