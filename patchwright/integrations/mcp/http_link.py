"""The way to a server that the service itself calls: streamable HTTP.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from patchwright.core.settings.mcp import McpServerSettings
from patchwright.integrations.mcp.guard import MAX_ANSWER_BYTES, AllowedHostTransport

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
                    _CONNECT_S, read=self._settings.timeout_s + _MARGIN_S
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
