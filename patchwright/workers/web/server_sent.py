"""Server-sent events: their messages, their stream, and what wakes it."""

import asyncio
from collections.abc import AsyncIterator

from fastapi.responses import StreamingResponse


def message(name: str, html: str, event_id: int | None = None) -> str:
    """Return a message with a name, and an id if the browser is to come back to it."""
    # Each of the three ends a line there, and what follows would be a field of its own.
    # https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
    text = html.replace("\r\n", "\n").replace("\r", "\n")
    lines = [f"event: {name}", *(f"data: {line}" for line in text.split("\n"))]
    if event_id is not None:
        lines.append(f"id: {event_id}")
    return "\n".join(lines) + "\n\n"


def event_stream(messages: AsyncIterator[str]) -> StreamingResponse:
    """Send messages as they come; no proxy may keep them back."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(messages, headers=headers, media_type="text/event-stream")


class AsyncNotifier:
    """An event that a notifier sets from any thread, and a coroutine waits for."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def set(self) -> None:
        self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self, timeout_s: float) -> None:
        try:
            await asyncio.wait_for(self._event.wait(), timeout_s)
        except TimeoutError:
            return
        self._event.clear()
