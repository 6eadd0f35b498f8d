"""The way to a server that runs in the sandbox: lines over its two pipes."""

from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from queue import SimpleQueue
from threading import Thread
from typing import Final, Self

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import JSONRPCNotification, JSONRPCRequest

from patchwright.core.errors import SandboxError
from patchwright.core.runtime import Pipe
from patchwright.integrations.mcp.lines import read_line, write_line

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
        self._complaint = ""
        self._lines_since_question = 0

    def error_text(self) -> str:
        return self._complaint

    @property
    def is_broken(self) -> bool:
        return bool(self._complaint)

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

    def _read(self, inbox: MemoryObjectSendStream[PipeItem], loop: EventLoopToken) -> None:
        with suppress(*_NOBODY_LISTENS):
            try:
                self._pass_on(inbox, loop)
            except SandboxError as error:
                self._complaint = self._complaint or str(error)
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
        self._fail(f"it wrote {MAX_LINES} lines that nobody had asked for")

    def _fail(self, complaint: str) -> None:
        self._complaint = self._complaint or complaint
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
