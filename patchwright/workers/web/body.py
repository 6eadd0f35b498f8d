"""Read the body of a request, but not more of it than is allowed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import Request

from patchwright.core.errors import PatchwrightError

# More than hardly any delivery has. So many of the others are in memory at once; they
# are there before anybody knows whether the sender is one.
_LARGE_BYTES: Final = 1 << 20
_LARGE_AT_ONCE: Final = 4
# A service has given up by then.
_PATIENCE_S: Final = 30.0


class BodyTooLargeError(PatchwrightError):
    """The body is larger than the service ever sends."""

    reason = "too-large"


class BodyTooSlowError(PatchwrightError):
    """A large body takes longer than others that wait can be asked to wait."""

    reason = "too-slow"


class LargeBodies:
    """Lets large bodies wait for each other, and all others pass."""

    def __init__(self, patience_s: float = _PATIENCE_S) -> None:
        self._places = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._patience_s = patience_s

    @asynccontextmanager
    async def place_for(self, request: Request, max_bytes: int) -> AsyncIterator[None]:
        """Hold a place while the body is in memory and nobody knows whose it is.

        Raises `BodyTooSlowError`.
        """
        if not _may_be_large(request, max_bytes):
            yield
            return
        async with self._places:
            try:
                async with asyncio.timeout(self._patience_s):
                    yield
            except TimeoutError as error:
                raise BodyTooSlowError("the body does not come to its end") from error


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the body; raise `BodyTooLargeError` before a byte too many is kept."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise BodyTooLargeError(f"the body has {announced} bytes")
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            raise BodyTooLargeError(f"the body has more than {max_bytes} bytes")
        parts.append(part)
    return b"".join(parts)


def _may_be_large(request: Request, max_bytes: int) -> bool:
    announced = request.headers.get("content-length", "")
    size = int(announced) if announced.isdecimal() else max_bytes
    return _LARGE_BYTES < size <= max_bytes
