"""One session with a server, and the thread with the event loop that it runs in."""

from collections.abc import Awaitable, Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import suppress
from threading import Thread
from typing import Final, Protocol, TypeVar

import anyio
from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp.client import Transport
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    PaginatedRequestParams,
    Tool,
)
from pydantic import JsonValue, TypeAdapter

from patchwright.integrations.mcp.results import CallError, ServerLostError, map_error


class ServerLink(Protocol):
    """Carries the messages of one session, and knows why it broke."""

    def open_streams(self) -> Transport:
        """Return the streams of messages, for one use."""
        ...

    def error_text(self) -> str:
        """Return why the server cannot be used; empty while it seems well."""
        ...

    @property
    def is_broken(self) -> bool:
        """Tell whether no message can pass any more, as far as is known."""
        ...

    def close(self) -> None:
        """End what the link has started; calling it twice is harmless."""
        ...


# A name that is being looked up cannot be called back; its thread is left behind.
_JOIN_S: Final = 0.5

T = TypeVar("T")


class LoopThread:
    """Runs asynchronous work for callers that are not."""

    def __init__(self) -> None:
        started: Future[BlockingPortal] = Future()
        # As a daemon: what hangs in it must not keep the process from ending.
        self._thread = Thread(
            target=anyio.run, args=(_run_portal, started), name="mcp", daemon=True
        )
        self._thread.start()
        self._portal = started.result()

    def begin(self, work: Callable[..., Awaitable[T]], *args: object) -> Future[T]:
        """Start a piece of work; cancelling the future cancels it.

        After `close` the future is one that was cancelled.
        """
        try:
            return self._portal.start_task_soon(work, *args)
        except RuntimeError:
            too_late: Future[T] = Future()
            too_late.cancel()
            return too_late

    def close(self) -> None:
        """Cancel all work; calling it twice is harmless."""
        with suppress(RuntimeError):  # it has ended already
            self._portal.call(self._portal.stop, True)
        self._thread.join(_JOIN_S)


async def _run_portal(started: "Future[BlockingPortal]") -> None:
    async with BlockingPortal() as portal:
        started.set_result(portal)
        await portal.sleep_until_stopped()


CLOSE_S: Final = 0.3
MAX_PAGES: Final = 20
_GRACE_S: Final = 2.0
_CLIENT: Final = Implementation(name="patchwright", version="1")
_ANSWER: Final[TypeAdapter[CallToolResult | InputRequiredResult]] = TypeAdapter(
    CallToolResult | InputRequiredResult
)


class McpSession:
    """Begins at once; `wait_for_tools` waits until the server has said what it offers.

    What servers may ask of a client (a model's words, a person's, its folders) is
    declined: the library does so where nothing answers.
    """

    def __init__(self, loop: LoopThread, link: ServerLink) -> None:
        self._loop = loop
        self._link = link
        self._over = anyio.Event()
        self._client = Client(
            link.open_streams(),
            client_info=_CLIENT,
            cache=None,
        )
        self._tools: list[Tool] = []
        self._tools_listed: Future[None] = Future()
        self._life = loop.begin(self._live)
        self._is_lost = False

    @property
    def is_over(self) -> bool:
        return self._is_lost or self._life.done() or self._link.is_broken

    def wait_for_tools(self, timeout_s: float) -> list[Tool]:
        """Wait for the server's tools; raise `CallError` or `ServerLostError`."""
        wait((self._tools_listed, self._life), timeout_s, FIRST_COMPLETED)
        if self._tools_listed.done():
            return self._tools
        if not self._life.done():
            raise CallError("mcp-timeout", f"it did not start in {timeout_s:.0f} s")
        raise self._fault(self._life, 0.0) or ServerLostError("its session has ended")

    def call(
        self, tool: str, arguments: dict[str, JsonValue], timeout_s: float
    ) -> CallToolResult:
        """Call a listed tool; raise `CallError` or `ServerLostError`."""
        answer = self._loop.begin(_call, self._client, tool, arguments, timeout_s)
        fault = self._fault(answer, timeout_s + _GRACE_S)
        if fault:
            raise fault
        return answer.result()

    def close(self) -> None:
        """Say good-bye, but not for long; calling it twice is harmless."""
        self._link.close()
        self._loop.begin(self._end)
        wait((self._life,), CLOSE_S)
        self._life.cancel()

    async def _live(self) -> None:
        async with self._client as client:
            self._tools = await _list(client)
            self._tools_listed.set_result(None)
            await self._over.wait()

    async def _end(self) -> None:
        self._over.set()

    def _fault(
        self, work: Future[T], timeout_s: float
    ) -> CallError | ServerLostError | None:
        """Wait for a piece of work; return what went wrong with it, if anything did."""
        try:
            error = work.exception(timeout_s)
        except TimeoutError:
            work.cancel()
            return CallError("mcp-timeout", "it did not answer in time")
        except CancelledError:
            return CallError("mcp-closed", "the run has ended")
        fault = map_error(error, self._link.error_text()) if error else None
        self._is_lost = self._is_lost or isinstance(fault, ServerLostError)
        return fault


async def _list(client: Client) -> list[Tool]:
    page = await client.session.list_tools()
    tools = list(page.tools)
    for _ in range(MAX_PAGES - 1):
        if not page.next_cursor:
            break
        where = PaginatedRequestParams(cursor=page.next_cursor)
        page = await client.session.list_tools(params=where)
        tools += page.tools
    return tools


async def _call(
    client: Client, tool: str, arguments: dict[str, JsonValue], timeout_s: float
) -> CallToolResult:
    # Not through `call_tool`, which matches the answer against patterns of the server:
    # one that never ends would stop the whole process.
    params = CallToolRequestParams(name=tool, arguments=arguments)
    answer = await client.session.send_request(
        CallToolRequest(params=params),
        _ANSWER,
        request_read_timeout_seconds=timeout_s,
    )
    if isinstance(answer, InputRequiredResult):
        text = "it asks for input by a person or a model, and gets none here"
        raise CallError("mcp-needs-input", text)
    return answer
