"""The web application: webhooks in, pages and health out."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from fastapi import FastAPI

from patchwright.core.clock import Clock
from patchwright.workers.intake.dispatcher import Dispatcher
from patchwright.workers.intake.intake import Inbox
from patchwright.workers.ops.reporter import Reporter
from patchwright.workers.web.asking.door import RequestFormRoutes
from patchwright.workers.web.asking.routes import add_request_form
from patchwright.workers.web.body import add_body_errors
from patchwright.workers.web.deliveries import WEBHOOK_ROUTE, WebhookRoute
from patchwright.workers.web.health import add_health
from patchwright.workers.web.linking.door import LinkingRoutes
from patchwright.workers.web.linking.routes import add_linking, linking_callbacks
from patchwright.workers.web.pages.routes import RunPages, add_run_pages
from patchwright.workers.web.receiver import WebhookSource
from patchwright.workers.web.request_log import CountRequest, add_request_log
from patchwright.workers.web.sign_in import SignInRoutes, add_sign_in

WebApp: TypeAlias = FastAPI
AddPages = Callable[[FastAPI], None]


@dataclass(frozen=True)
class WebServices:
    """What the web edge works with. `entrances` are by the name of their service.

    `reporter` tells how the process is, and `count_request` is told of each request.

    `companions` go on as long as the intake does. Without a `sign_in` nobody can sign
    in, without `run_pages` nobody sees a run, without `asking` nobody asks on a page.
    """

    reporter: Reporter
    count_request: CountRequest
    intake: Inbox
    dispatcher: Dispatcher
    webhook_sources: Mapping[str, WebhookSource]
    clock: Clock
    background_tasks: tuple[AbstractContextManager[object], ...] = ()
    linking: LinkingRoutes | None = None
    pages: tuple[AddPages, ...] = ()
    sign_in: SignInRoutes | None = None
    run_pages: RunPages | None = None
    asking: RequestFormRoutes | None = None


def create_app(services: WebServices) -> FastAPI:
    """Return the application; its lifespan starts the intake, and drains it."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        with services.dispatcher, services.intake, ExitStack() as stack:
            for companion in services.background_tasks:
                stack.enter_context(companion)
            yield

    route = WebhookRoute(services.webhook_sources, services.intake, services.clock)
    # The pages that FastAPI would add run scripts of a host that is not ours.
    app = FastAPI(title="Patchwright", lifespan=lifespan, openapi_url=None)
    add_body_errors(app)
    # A plain route: what FastAPI adds to it costs more than all the rest of the way.
    app.add_route(WEBHOOK_ROUTE, route.receive, methods=["POST"])
    add_health(app, services.reporter)
    if services.sign_in is not None:
        add_sign_in(app, services.sign_in, linking_callbacks(services.linking))
    if services.linking is not None:
        add_linking(app, services.linking)
    for add in services.pages:
        add(app)
    if services.run_pages is not None:
        add_run_pages(app, services.run_pages)
    if services.asking is not None:
        add_request_form(app, services.asking)
    add_request_log(app, services.count_request, services.clock)
    return app
