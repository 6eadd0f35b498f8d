"""One session with a server, its event loop, and its answers as text for the model."""

import json
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import suppress
from threading import Thread
from typing import Final, Protocol, TypeVar, assert_never

import anyio
from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp.client import Transport
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    AudioContent,
    BlobResourceContents,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    Implementation,
    InputRequiredResult,
    PaginatedRequestParams,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
)
from pydantic import JsonValue, TypeAdapter, ValidationError

from patchwright.core.text.strings import truncate_middle

MAX_WORDS: Final = 1000


class CallError(Exception):
    """A call came to nothing, and the server lives; `reason` is a short code."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason


class ServerLostError(Exception):
    """The server ended, or cannot be reached; the message says what is known."""


def map_error(error: BaseException, link_error: str) -> CallError | ServerLostError:
    """Say what an error of the library means; `link_error` is what the link knows."""
    first = next(_leaves(error))
    match first:
        case CallError():
            return first
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return ServerLostError(_words(link_error or first.message))
        # The library has no code of its own for a session that the server ended.
        case MCPError(code=code, message="Session terminated") if (
            code == INVALID_REQUEST
        ):
            return ServerLostError("it has forgotten the session")
        case MCPError(code=code) if code == REQUEST_TIMEOUT:
            return CallError("mcp-timeout", "it did not answer in time")
        case MCPError():
            known = f"{first.message} ({link_error})" if link_error else first.message
            return CallError("mcp-error", _words(known))
        case ValidationError():
            text = "its answer does not have the form that the protocol demands"
            return CallError("mcp-bad-answer", text)
        case _:
            return ServerLostError(_words(link_error or str(first) or repr(first)))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _words(text: str) -> str:
    return truncate_middle(text.strip(), MAX_WORDS)


MAX_RESULT_CHARS: Final = 20_000
_KILO: Final = 1000


def result_text(result: CallToolResult) -> str:
    """Return the text, and a mark in brackets for everything that is none."""
    parts = [_shown(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return truncate_middle("\n".join(parts), MAX_RESULT_CHARS)


def _shown(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent():
            return f"[image {block.mime_type}, {_size(block.data)}]"
        case AudioContent():
            return f"[audio {block.mime_type}, {_size(block.data)}]"
        case ResourceLink():
            return f"[link {block.name}: {block.uri}]"
        case EmbeddedResource():
            return _resource(block.resource)
        case _:
            assert_never(block)


def _resource(resource: TextResourceContents | BlobResourceContents) -> str:
    match resource:
        case TextResourceContents():
            return f"[resource {resource.uri}]\n{resource.text}"
        case BlobResourceContents():
            kind = resource.mime_type or "of unknown type"
            return f"[resource {resource.uri}, {kind}, {_size(resource.blob)}]"
        case _:
            assert_never(resource)


def _size(base64_text: str) -> str:
    count = len(base64_text) * 3 // 4
    return f"{count} bytes" if count < _KILO else f"{count // _KILO} kB"


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
