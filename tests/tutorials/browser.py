"""The browser of the reader, for which the world's names lead to this machine."""

import ssl
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from tests.tutorials.front import Address


class _ByName(httpx.BaseTransport):
    """Connects to the door, and asks there for the name in the address."""

    def __init__(self, at: Address, bundle: Path) -> None:
        self._at = at
        trust = ssl.create_default_context(cafile=str(bundle))
        # All names are one address: a kept connection would be taken for another's.
        once = httpx.Limits(max_keepalive_connections=0)
        self._real = httpx.HTTPTransport(verify=trust, limits=once)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        host, port = self._at
        led = httpx.Request(
            request.method,
            request.url.copy_with(host=host, port=port),
            headers=request.headers,
            stream=request.stream,
            # https://www.python-httpx.org/advanced/extensions/#sni_hostname
            extensions={**request.extensions, "sni_hostname": request.url.host},
        )
        return self._real.handle_request(led)

    def close(self) -> None:
        self._real.close()


class Browser:
    """Keeps cookies, and stops at every redirect. Use it as a context."""

    def __init__(self, at: Address, bundle: Path) -> None:
        self._client = httpx.Client(transport=_ByName(at, bundle), timeout=30)

    def __enter__(self) -> Self:
        self._client.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.__exit__(kind, problem, trace)

    @property
    def client(self) -> httpx.Client:
        return self._client
