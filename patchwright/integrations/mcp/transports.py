"""The ways to a server: over HTTP, or over the pipes of a program in the sandbox."""

import socket
from collections.abc import AsyncIterator, Collection
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from queue import SimpleQueue
from threading import Thread
from typing import Final, Self

import anyio
import httpx2
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import (
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)

from patchwright.core.mcp import may_reach
from patchwright.core.runtime import Pipe
from patchwright.core.settings.mcp import McpServerSettings
from patchwright.core.types.errors import SandboxError


def read_line(line: str) -> JSONRPCMessage | None:
    """Return the message in a line, or None: servers print other things too."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


def write_line(message: JSONRPCMessage) -> str:
    return message.model_dump_json(by_alias=True, exclude_unset=True)


PipeItem = SessionMessage | Exception

READ_S: Final = 30.0
# What a server may say between two of our questions.
MAX_LINES: Final = 10_000
_JOIN_S: Final = 0.5
# What is raised when the session has no use for a message any more.
_NOBODY_LISTENS: Final = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.RunFinishedError,
    CancelledError,
)


class PipeLink:
    """Moves lines between a pipe, which blocks, and a session, which must not."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._outgoing: SimpleQueue[str | None] = SimpleQueue()
        self._problem = ""
        self._lines_since_question = 0

    def error_text(self) -> str:
        return self._problem

    @property
    def is_broken(self) -> bool:
        return bool(self._problem)

    def close(self) -> None:
        self._outgoing.put(None)
        with suppress(SandboxError):  # it has ended, and the sandbox perhaps with it
            self._pipe.close()

    @asynccontextmanager
    async def open_streams(
        self,
    ) -> AsyncIterator[tuple[MemoryObjectReceiveStream[PipeItem], "_Outbox"]]:
        inbox, received = anyio.create_memory_object_stream[PipeItem](0)
        reader = Thread(target=self._read, args=(inbox, current_token()), daemon=True)
        reader.start()
        Thread(target=self._write, daemon=True).start()
        try:
            yield received, _Outbox(self)
        finally:
            self._outgoing.put(None)
            received.close()
            # It must not come back to a loop that is closed.
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(reader.join, _JOIN_S)
            inbox.close()

    def send(self, item: SessionMessage) -> None:
        if isinstance(item.message, JSONRPCRequest):
            self._lines_since_question = 0
        self._outgoing.put(write_line(item.message))

    def _write(self) -> None:
        try:
            while (line := self._outgoing.get()) is not None:
                self._pipe.write(line)
        except SandboxError as error:
            self._fail(str(error))

    def _read(
        self, inbox: MemoryObjectSendStream[PipeItem], loop: EventLoopToken
    ) -> None:
        with suppress(*_NOBODY_LISTENS):
            try:
                self._pass_on(inbox, loop)
            except SandboxError as error:
                self._problem = self._problem or str(error)
            from_thread.run_sync(inbox.close, token=loop)

    def _pass_on(
        self, inbox: MemoryObjectSendStream[PipeItem], loop: EventLoopToken
    ) -> None:
        while self._lines_since_question < MAX_LINES:
            line = self._pipe.read(READ_S)
            if line is None:
                continue
            self._lines_since_question += 1
            message = read_line(line)
            # What it prints besides is no message, and nothing is done on a notice.
            if message is not None and not isinstance(message, JSONRPCNotification):
                from_thread.run(inbox.send, SessionMessage(message), token=loop)
        self._fail(f"it wrote {MAX_LINES} unexpected lines")

    def _fail(self, problem: str) -> None:
        self._problem = self._problem or problem
        self.close()


class _Outbox:
    """The session's end for what it sends."""

    def __init__(self, link: PipeLink) -> None:
        self._link = link

    async def send(self, item: SessionMessage) -> None:
        self._link.send(item)

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        pass


MAX_ANSWER_BYTES: Final = 8 << 20


class RefusedError(httpx2.RequestError):
    """What was about to happen is not allowed; the message says why."""


class AllowedHostTransport(httpx2.AsyncBaseTransport):
    """Sends requests to allowed addresses only, the very ones that were judged.

    `error_text` is what was wrong with the last question that went wrong.
    """

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._inner = httpx2.AsyncHTTPTransport()
        self.error_text = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._send(request)
        except httpx2.RequestError as error:
            self.error_text = str(error) or type(error).__name__
            raise
        if request.method == "POST":
            self.error_text = _status_problem(response.status_code)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(response, self),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        addresses = await self._find_addresses(request.url)
        for address in addresses[:-1]:
            try:
                return await self._send_to(address, request)
            except httpx2.ConnectError:
                continue
        response = await self._send_to(addresses[-1], request)
        # Its size when unpacked could be anything.
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise RefusedError("it compresses its answers, which it was not asked to")
        return response

    async def _send_to(self, address: str, request: httpx2.Request) -> httpx2.Response:
        """Send a request to this address, with the name that was asked for."""
        pinned = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": request.url.host},
        )
        return await self._inner.handle_async_request(pinned)

    async def _find_addresses(self, url: httpx2.URL) -> list[str]:
        try:
            found = await anyio.getaddrinfo(url.host, None, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpx2.ConnectError(f"{url.host}: {error.strerror}") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        good = [one for one in addresses if may_reach(url.host, one, self._allowed)]
        if not good:
            raise RefusedError(
                f"{url.host} has the address {', '.join(addresses)}, which is not "
                "public and not in sandbox.allow_domains"
            )
        return good


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to a size."""

    def __init__(self, response: httpx2.Response, guard: AllowedHostTransport) -> None:
        self._response = response
        self._guard = guard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._response.aiter_raw():
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                self._guard.error_text = (
                    f"its answer is larger than {MAX_ANSWER_BYTES >> 20} MiB"
                )
                raise RefusedError(self._guard.error_text)
            yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()


def _status_problem(status: int) -> str:
    if status < HTTPStatus.BAD_REQUEST:
        return ""
    known = {one.value: one.phrase for one in HTTPStatus}
    return f"it answered {status} {known.get(status, '')}".rstrip()


_CONNECT_S: Final = 10.0
_MARGIN_S: Final = 5.0


class HttpLink:
    """Calls the server at an address that is allowed, and no other."""

    def __init__(self, settings: McpServerSettings, allowed: Collection[str]) -> None:
        self._settings = settings
        self._guard = AllowedHostTransport(allowed)

    def error_text(self) -> str:
        return self._guard.error_text

    @property
    def is_broken(self) -> bool:
        return False

    def close(self) -> None:
        """Do nothing: the session ends the connections."""

    @asynccontextmanager
    async def open_streams(self) -> AsyncIterator[TransportStreams]:
        async with (
            httpx2.AsyncClient(
                transport=self._guard,
                headers=self._headers(),
                timeout=httpx2.Timeout(
                    _CONNECT_S, read=self._settings.timeout_seconds + _MARGIN_S
                ),
            ) as client,
            streamable_http_client(
                self._settings.url,
                http_client=client,
                max_sse_event_size=MAX_ANSWER_BYTES,
            ) as streams,
        ):
            yield streams

    def _headers(self) -> dict[str, str]:
        secret = self._settings.headers.items()
        plain = {name: value.get_secret_value() for name, value in secret}
        return {**plain, "Accept-Encoding": "identity"}
