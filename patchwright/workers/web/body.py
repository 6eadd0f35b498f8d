"""Read the body of a request, but not more of it than is allowed."""

from fastapi import Request

from patchwright.core.errors import PatchwrightError


class BodyTooLargeError(PatchwrightError):
    """The body is larger than the service ever sends."""

    reason = "too-large"


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
