"""Follow a conversation: what was, and then what comes, as SSE or by WebSocket.

The id of an event is the cursor: whoever comes again says which one they had last.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.websockets import WebSocketDisconnect

from patchwright.core.events.types import Event
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.resolver.job import Job, is_over
from patchwright.workers.accounts.principal import Principal, SignedInBy
from patchwright.workers.api.conversations import VisibleConversations
from patchwright.workers.api.operations import ApiAccess
from patchwright.workers.api.problems import ApiError, not_found, respond_problem
from patchwright.workers.api.schemas import event_view
from patchwright.workers.web.server_sent import AsyncNotifier

EVENT_STREAM: Final = "/api/conversations/{id}/events/stream"
EVENT_SOCKET: Final = "/sockets/events/{id}"
# Then they come again, with what they have, and are asked again who they are.
STREAM_S: Final = 60.0
# The state of a run can change without an event.
LOOK_AGAIN_S: Final = 5.0
MOST_READERS: Final = 200
_EVENTS_AT_ONCE: Final = 200
_RETRY_MS: Final = 1000
_NUMBER: Final = re.compile(r"\d{1,9}\Z", re.ASCII)
_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}\Z")
# https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1
_DONE: Final = 1000
_REFUSED: Final = 1008
_TRY_AGAIN: Final = 1013
# https://asgi.readthedocs.io/en/latest/extensions.html#websocket-denial-response
_CAN_ANSWER: Final = "websocket.http.response"
_FULL: Final = ApiError(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "too-many-readers",
    "Too many others follow runs now. Try again in a while.",
    headers={"Retry-After": "30"},
)


class FeedPart(Value):
    """News for one reader; after the last part their run is over."""

    events: tuple[Event, ...] = ()
    is_last: bool = False


@dataclass
class EventFeed:
    """Serves those who follow; none of them holds a thread."""

    conversations: VisibleConversations
    access: ApiAccess
    clock: Clock
    stream_s: float = STREAM_S
    look_again_s: float = LOOK_AGAIN_S
    most_readers: int = MOST_READERS
    readers: int = field(default=0, init=False)

    @property
    def is_full(self) -> bool:
        return self.readers >= self.most_readers

    def find_run(self, principal: Principal, found: str) -> Job:
        """Return the newest run; may take a while. Raises `ApiError`."""
        if not _ID.match(found):
            raise not_found("conversation")
        job = self.conversations.find_run(principal, found)
        if self.is_full:
            raise _FULL
        return job

    async def parts(self, job: Job, after: int) -> AsyncIterator[FeedPart]:
        """Yield what comes after an event, until the run is over or time is up.

        An empty part says that nothing came for a while.
        """
        self.readers += 1
        try:
            async for part in self._parts(job, after):
                yield part
        finally:
            self.readers -= 1

    async def _parts(self, job: Job, after: int) -> AsyncIterator[FeedPart]:
        wakeup = AsyncNotifier()
        ends_at = self.clock.monotonic() + self.stream_s
        notifier = self.conversations.service.events.notifier
        with notifier.attach(job.conversation_id, wakeup):
            while True:
                # Asked before the events: what ended it is among them then.
                is_last = await run_in_threadpool(self._has_ended, job)
                while found := await run_in_threadpool(self._read, job, after):
                    after = found[-1].id
                    yield FeedPart(events=tuple(found))
                if is_last or self.clock.monotonic() >= ends_at:
                    yield FeedPart(is_last=is_last)
                    return
                yield FeedPart()
                await wakeup.wait(self.look_again_s)

    def _has_ended(self, job: Job) -> bool:
        newest = self.conversations.newest_run(job.conversation_id)
        return newest is None or is_over(newest)

    def _read(self, job: Job, after: int) -> Sequence[Event]:
        log = self.conversations.service.events.open(job.conversation_id)
        return log.read(after + 1, limit=_EVENTS_AT_ONCE)


def add_event_streams(app: FastAPI, feed: EventFeed) -> None:
    @app.get(EVENT_STREAM, include_in_schema=False)
    async def stream_events(request: Request, id: str) -> Response:  # noqa: A002 - as in the path
        """Send the events of a conversation, and then what comes (SSE)."""
        quota: Mapping[str, str] = {}
        try:
            caller = await run_in_threadpool(feed.access.admit, request)
            quota = caller.headers
            job = await run_in_threadpool(feed.find_run, caller.principal, id)
        except ApiError as error:
            return respond_problem(error, quota)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", **quota}
        texts = _as_text(feed.parts(job, _after(request)))
        return StreamingResponse(texts, headers=headers, media_type="text/event-stream")

    @app.websocket(EVENT_SOCKET)
    async def event_socket(socket: WebSocket, id: str) -> None:  # noqa: A002 - as in the path
        """Send the events of a conversation, and then what comes (WebSocket)."""
        # Those who recognize people know no sockets: it has the same headers.
        request = Request({**socket.scope, "type": "http", "method": "GET"})
        try:
            job = await run_in_threadpool(_find_for_socket, feed, request, id)
        except ApiError as error:
            await _refuse(socket, error)
            return
        await socket.accept()
        await _serve(feed, socket, job, _after(request))


def _find_for_socket(feed: EventFeed, request: Request, found: str) -> Job:
    """Check what a browser does not: any page may open a socket to any address.

    https://www.rfc-editor.org/rfc/rfc6455#section-10.2
    """
    principal = feed.access.admit(request).principal
    is_session = principal.signed_in_by is SignedInBy.SESSION
    is_ours = feed.access.has_own_origin(request)
    if feed.access.is_foreign(request) or (is_session and not is_ours):
        raise not_found("conversation")
    return feed.find_run(principal, found)


async def _refuse(socket: WebSocket, error: ApiError) -> None:
    """Say when to come again to who may, and no more than 403 to all others."""
    is_later = "Retry-After" in error.headers
    if is_later and _CAN_ANSWER in socket.scope.get("extensions", {}):
        await socket.send_denial_response(respond_problem(error))
    else:
        await socket.close(_REFUSED, error.problem.detail)


async def _serve(feed: EventFeed, socket: WebSocket, job: Job, after: int) -> None:
    sending = asyncio.create_task(_send_all(feed, socket, job, after))
    leaving = asyncio.create_task(_wait_until_left(socket))
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in (sending, leaving):
            one.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)


async def _send_all(feed: EventFeed, socket: WebSocket, job: Job, after: int) -> None:
    code = _TRY_AGAIN
    # Who has left meanwhile gets nothing more.
    with suppress(WebSocketDisconnect, RuntimeError):
        async for part in feed.parts(job, after):
            for event in part.events:
                await socket.send_text(_json(event))
            code = _DONE if part.is_last else code
        await socket.close(code)


async def _wait_until_left(socket: WebSocket) -> None:
    """Read what they send, which means nothing, until they leave."""
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.receive_text()


async def _as_text(parts: AsyncIterator[FeedPart]) -> AsyncIterator[str]:
    """Write the parts as a stream of events.

    https://html.spec.whatwg.org/multipage/server-sent-events.html
    """
    yield f"retry: {_RETRY_MS}\n\n"
    async for part in parts:
        for event in part.events:
            # JSON has no line ends: no text of an event can begin another one.
            yield f"id: {event.id}\nevent: event\ndata: {_json(event)}\n\n"
        if part.is_last:
            yield "event: end\ndata: {}\n\n"
        elif not part.events:
            yield ": nothing new\n\n"


def _json(event: Event) -> str:
    return json.dumps(event_view(event).model_dump(mode="json"))


def _after(request: Request) -> int:
    """Return the last event that they have: a browser says so when it comes again."""
    seen = request.headers.get("last-event-id") or request.query_params.get("after", "")
    return int(seen) if _NUMBER.match(seen) else 0
