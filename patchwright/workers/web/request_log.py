"""A line and a count for each request: what, how it ended, and how long it took."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

import structlog
from fastapi import FastAPI

from patchwright.core.clock import Clock
from patchwright.workers.ops.reporter import LIVE, METRICS, READY

# https://asgi.readthedocs.io/en/latest/specs/main.html#applications
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
# Method, pattern of the path, status, seconds.
CountRequest = Callable[[str, str, int, float], None]

_UNKNOWN: Final = "unknown"
_NO_ANSWER: Final = 500
# They are asked every few seconds, and tell of themselves when something is wrong.
_UNLOGGED_ROUTES: Final = frozenset({LIVE, READY, METRICS})
# What did not arrive: anybody may have thousands of these.
_INCOMPLETE_STATUS: Final = frozenset({408, 499})
# Whoever sends a request may make up more.
_METHODS: Final = frozenset(
    {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}
)

log = structlog.get_logger(__name__)


def add_request_log(app: FastAPI, count: CountRequest, clock: Clock) -> None:
    """Add it to an application that has all its routes."""
    patterns = {
        route.endpoint: route.path
        for route in app.routes
        if hasattr(route, "endpoint") and hasattr(route, "path")
    }
    app.add_middleware(_RequestLog, patterns=patterns, count=count, clock=clock)


class _RequestLog:
    """Neither path nor query are told: both may hold what opens a page."""

    def __init__(
        self,
        app: App,
        patterns: Mapping[object, str],
        count: CountRequest,
        clock: Clock,
    ) -> None:
        self._app, self._patterns = app, patterns
        self._count, self._clock = count, clock

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_at, status = self._clock.monotonic(), _NO_ANSWER

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            self._tell(scope, status, self._clock.monotonic() - began_at)

    def _tell(self, scope: Message, status: int, seconds: float) -> None:
        route = self._patterns.get(scope.get("endpoint"), _UNKNOWN)
        method = scope["method"] if scope["method"] in _METHODS else _UNKNOWN
        self._count(method, route, status, seconds)
        if route not in _UNLOGGED_ROUTES:
            tell = log.debug if status in _INCOMPLETE_STATUS else log.info
            tell(
                "request",
                method=method,
                route=route,
                status=status,
                seconds=round(seconds, 4),
            )
