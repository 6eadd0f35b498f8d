"""Watch over the HTTP requests to a server: where they go, and how much comes back."""

import socket
from collections.abc import AsyncIterator, Collection
from http import HTTPStatus
from typing import Final

import anyio
import httpx2

from patchwright.core.mcp.hosts import may_reach

MAX_ANSWER_BYTES: Final = 8 << 20


class RefusedError(httpx2.RequestError):
    """What was about to happen is not allowed; the message says why."""


class AllowedHostTransport(httpx2.AsyncBaseTransport):
    """Sends requests to allowed addresses only, the very ones that were judged.

    `complaint` is what was wrong with the last question that went wrong.
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
            self.error_text = _status_complaint(response.status_code)
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


def _status_complaint(status: int) -> str:
    if status < HTTPStatus.BAD_REQUEST:
        return ""
    known = {one.value: one.phrase for one in HTTPStatus}
    return f"it answered {status} {known.get(status, '')}".rstrip()
