"""The web application: webhooks in, health out."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from patchwright.core.clock import Clock
from patchwright.workers.db.database import Database
from patchwright.workers.intake.dispatcher import Dispatcher
from patchwright.workers.intake.intake import Intake
from patchwright.workers.web.asking.door import AskingDoor
from patchwright.workers.web.asking.routes import add_asking
from patchwright.workers.web.deliveries import DELIVERIES, DeliveryDoor
from patchwright.workers.web.linking.door import LinkingDoor
from patchwright.workers.web.linking.routes import add_linking, linking_errands
from patchwright.workers.web.pages.routes import RunPages, add_run_pages
from patchwright.workers.web.receiver import Entrance
from patchwright.workers.web.sign_in import SignInDoor, add_sign_in

WebApp: TypeAlias = FastAPI
AddPages = Callable[[FastAPI], None]


@dataclass(frozen=True)
class Services:
    """What the web edge works with. `entrances` are by the name of their service.

    `companions` go on as long as the intake does. Without a `sign_in` nobody can sign
    in, without `run_pages` nobody sees a run, without `asking` nobody asks on a page.
    """

    database: Database
    intake: Intake
    dispatcher: Dispatcher
    entrances: Mapping[str, Entrance]
    clock: Clock
    companions: tuple[AbstractContextManager[object], ...] = ()
    linking: LinkingDoor | None = None
    pages: tuple[AddPages, ...] = ()
    sign_in: SignInDoor | None = None
    run_pages: RunPages | None = None
    asking: AskingDoor | None = None


def create_app(services: Services) -> FastAPI:
    """Return the application; its lifespan starts the intake, and drains it."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        with services.dispatcher, services.intake, ExitStack() as stack:
            for companion in services.companions:
                stack.enter_context(companion)
            yield

    door = DeliveryDoor(services.entrances, services.intake, services.clock)
    app = FastAPI(title="Patchwright", lifespan=lifespan)
    # A plain route: what FastAPI adds to it costs more than all the rest of the way.
    app.add_route(DELIVERIES, door.receive, methods=["POST"])
    _add_health(app, services)
    if services.sign_in is not None:
        add_sign_in(app, services.sign_in, linking_errands(services.linking))
    if services.linking is not None:
        add_linking(app, services.linking)
    for add in services.pages:
        add(app)
    if services.run_pages is not None:
        add_run_pages(app, services.run_pages)
    if services.asking is not None:
        add_asking(app, services.asking)
    return app


def _add_health(app: FastAPI, services: Services) -> None:
    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "ok"}

    # Not async, as the database may let it wait: FastAPI gives it a thread.
    @app.get("/readyz")
    def readyz() -> JSONResponse:
        """Tell whether deliveries can be stored."""
        parts = {
            "database": services.database.answers(),
            "intake": services.intake.is_alive,
        }
        return JSONResponse(parts, status_code=200 if all(parts.values()) else 503)
