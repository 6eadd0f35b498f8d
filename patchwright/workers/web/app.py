"""The web application: webhooks in, pages and health out, and a log of requests."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import structlog
from fastapi import FastAPI, Request, Response

from patchwright.core.system.clock import Clock
from patchwright.core.webhook import WEBHOOK_ROUTE, WebhookSource
from patchwright.workers.inbox.inbox import Dispatcher, Inbox
from patchwright.workers.ops.endpoints import (
    LIVE,
    METRICS,
    READY,
    ListenerKind,
    Reporter,
    StatusAnswer,
    StatusRequest,
)
from patchwright.workers.web.body import add_body_errors
from patchwright.workers.web.forms import add_page_errors
from patchwright.workers.web.link_flow import LinkingRoutes
from patchwright.workers.web.link_routes import add_linking, linking_callbacks
from patchwright.workers.web.sign_in import SignInRoutes, add_sign_in
from patchwright.workers.web.webhooks import WebhookRoute


def add_health(app: FastAPI, reporter: Reporter) -> None:
    # None is async: the database may let them wait, so FastAPI gives them a thread.
    @app.get(LIVE)
    def healthz() -> Response:
        """Report whether the process answers and makes progress."""
        return _respond(reporter.live())

    @app.get(READY)
    def readyz() -> Response:
        """Report whether the process can do its work, part by part."""
        return _respond(reporter.ready())

    @app.get(METRICS)
    def metrics(request: Request) -> Response:
        """Show the metrics to requests with the token."""
        authorization = request.headers.get("authorization", "")
        asking = StatusRequest(
            METRICS, ListenerKind.PUBLIC, authorization=authorization
        )
        return _respond(reporter.metrics(asking))


def _respond(answer: StatusAnswer) -> Response:
    headers = {"WWW-Authenticate": answer.challenge} if answer.challenge else None
    return Response(
        answer.body, answer.status, headers=headers, media_type=answer.media_type
    )


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
# The sender of a request could invent more.
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
    """Path and query are not logged: both may contain the key of a page."""

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


WebApp: TypeAlias = FastAPI
AddPages = Callable[[FastAPI], None]


@dataclass(frozen=True)
class WebServices:
    """What the web edge works with. `webhook_sources` are by the name of their service.

    `reporter` reports the health of the process, and `count_request` counts each
    request. `prefix` is the path under which people reach us.

    `background_tasks` go on as long as the intake does. Without a `sign_in` nobody can
    sign in.
    """

    reporter: Reporter
    count_request: CountRequest
    inbox: Inbox
    dispatcher: Dispatcher
    webhook_sources: Mapping[str, WebhookSource]
    clock: Clock
    background_tasks: tuple[AbstractContextManager[object], ...] = ()
    linking: LinkingRoutes | None = None
    pages: tuple[AddPages, ...] = ()
    sign_in: SignInRoutes | None = None
    prefix: str = ""


def create_app(services: WebServices) -> FastAPI:
    """Return the application; its lifespan starts the intake, and drains it."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        with services.dispatcher, services.inbox, ExitStack() as stack:
            for companion in services.background_tasks:
                stack.enter_context(companion)
            yield

    route = WebhookRoute(services.webhook_sources, services.inbox, services.clock)
    # The pages that FastAPI would add run scripts of a host that is not ours.
    app = FastAPI(title="Patchwright", lifespan=lifespan, openapi_url=None)
    add_body_errors(app)
    add_page_errors(app, services.prefix)
    # A plain route: what FastAPI adds to it costs more than all the rest of the way.
    app.add_route(WEBHOOK_ROUTE, route.receive, methods=["POST"])
    add_health(app, services.reporter)
    if services.sign_in is not None:
        add_sign_in(app, services.sign_in, linking_callbacks(services.linking))
    if services.linking is not None:
        add_linking(app, services.linking)
    for add in services.pages:
        add(app)
    add_request_log(app, services.count_request, services.clock)
    return app
