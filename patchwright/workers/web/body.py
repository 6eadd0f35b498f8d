"""Read the body of a request: not more of it than is allowed, and not for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from patchwright.core.types.errors import PatchwrightError

# GitHub gives up on a delivery after ten seconds, and Slack after three.
# https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks
BODY_S: Final = 10.0
# Three times the largest delivery: those of true senders are there within a second.
_MAX_BUFFERED_BYTES: Final = 96 << 20
_RETRY_AFTER_S: Final = 5


class BodyTooLargeError(PatchwrightError):
    """The body is larger than the service ever sends."""

    reason = "too-large"


class BodyTooSlowError(PatchwrightError):
    """The body does not come to its end in the time that any sender has."""

    reason = "too-slow"


class BodyCutOffError(PatchwrightError):
    """The sender left before the body was complete; nobody gets an answer."""

    reason = "cut-off"


class BodiesFullError(PatchwrightError):
    """Bodies of others take all the memory; the sender may try again."""

    reason = "busy"


@dataclass(eq=False)
class _BufferedBody:
    """A body in memory; one that is still arriving can be cut off by its timer."""

    timer: asyncio.Timeout
    size: int = 0
    parts: list[bytes] = field(default_factory=list)
    is_arriving: bool = True
    is_cut: bool = False


class Bodies:
    """The bodies that are in memory while nobody knows whose they are.

    They share an amount of memory, and only what has arrived counts. When it is used
    up, the body that has been arriving the longest gives way: a true sender needs less
    than a second, so that those who keep a body open pay for those who do.
    """

    def __init__(
        self, limit_s: float = BODY_S, most: int = _MAX_BUFFERED_BYTES
    ) -> None:
        self._answer_limit_s, self._most = limit_s, most
        self._size = 0
        # In the order in which they began.
        self._held: dict[_BufferedBody, None] = {}

    @asynccontextmanager
    async def body_of(self, request: Request, max_bytes: int) -> AsyncIterator[bytes]:
        """Read a body, and count it for as long as the context is entered.

        Raises what `read_body` does, and `BodiesFullError`.
        """
        held = _BufferedBody(asyncio.timeout(self._answer_limit_s))
        self._held[held] = None
        try:
            yield await self._read(held, request, max_bytes)
        finally:
            self._release(held)

    async def _read(
        self, held: _BufferedBody, request: Request, max_bytes: int
    ) -> bytes:
        try:
            async with held.timer:
                async for part in _parts(request, max_bytes):
                    self._add(held, part)
        except TimeoutError as error:
            if held.is_cut:
                raise BodiesFullError(
                    "there is no memory left for this body"
                ) from error
            raise _too_slow() from error
        held.is_arriving = False
        parts, held.parts = held.parts, []
        return b"".join(parts)

    def _add(self, held: _BufferedBody, part: bytes) -> None:
        while self._size + len(part) > self._most:
            self._make_room(held)
        held.parts.append(part)
        held.size += len(part)
        self._size += len(part)

    def _make_room(self, asker: _BufferedBody) -> None:
        oldest = next(one for one in self._held if one.is_arriving)
        if oldest is asker:
            raise BodiesFullError("other bodies use all the memory")
        self._release(oldest)
        oldest.is_cut, oldest.is_arriving = True, False
        oldest.parts = []
        oldest.timer.reschedule(asyncio.get_running_loop().time())

    def _release(self, held: _BufferedBody) -> None:
        if held in self._held:
            del self._held[held]
            self._size -= held.size


async def read_body(request: Request, max_bytes: int, limit_s: float = BODY_S) -> bytes:
    """Return the body of a form.

    Raises `BodyTooLargeError` before a byte too many is kept, `BodyTooSlowError`, and
    `BodyCutOffError`.
    """
    try:
        async with asyncio.timeout(limit_s):
            return b"".join([part async for part in _parts(request, max_bytes)])
    except TimeoutError as error:
        raise _too_slow() from error


def add_body_errors(app: FastAPI) -> None:
    """Answer for every page whose body does not arrive as it should."""

    @app.exception_handler(BodyTooSlowError)
    async def tell_slow(_request: Request, error: Exception) -> Response:
        return refuse_body(408, error)

    @app.exception_handler(BodyCutOffError)
    async def tell_cut_off(_request: Request, error: Exception) -> Response:
        return refuse_body(499, error)


def refuse_body(status: int, error: Exception) -> Response:
    """Answer, and close: who sends a body that nobody reads would go on with it."""
    reason = error.reason if isinstance(error, PatchwrightError) else "refused"
    headers = {"connection": "close"}
    if isinstance(error, BodiesFullError):
        headers["retry-after"] = str(_RETRY_AFTER_S)
    return JSONResponse({"status": reason}, status_code=status, headers=headers)


async def _parts(request: Request, max_bytes: int) -> AsyncIterator[bytes]:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise BodyTooLargeError(f"the body has {announced} bytes")
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > max_bytes:
                raise BodyTooLargeError(f"the body has more than {max_bytes} bytes")
            yield part
    except ClientDisconnect as error:
        raise BodyCutOffError(
            "the sender closed the connection before the end"
        ) from error


def _too_slow() -> BodyTooSlowError:
    return BodyTooSlowError(f"the body is not complete after {BODY_S:.0f} seconds")
