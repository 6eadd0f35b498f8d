"""The pages of a service whose forge knows no app of it yet: they let one be made."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

import structlog
from fastapi import BackgroundTasks, FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from patchwright.core.plugin import AppSetup, RegisteredApp, ServiceProfile
from patchwright.core.types.errors import ServiceError
from patchwright.core.webhook_address import AddressProblem, describe_address_problem
from patchwright.workers.web.body import BodyTooLargeError, add_body_errors, read_body
from patchwright.workers.web.forms import SignedCookie, add_page_errors, form_pages
from patchwright.workers.web.reach_advice import ways_to_be_reachable
from patchwright.workers.web.server import make_server
from patchwright.workers.web.setup_access import (
    SETUP_TIME,
    LinkRefusal,
    SetupVisitors,
    setup_path,
    setup_url,
)

_COOKIE: Final = "patchwright_setup"
_MAX_FORM_BYTES: Final = 4096
_SEE_OTHER: Final = 303
# The forge gets to know from where a manifest comes, but not the whole address.
_PAGES: Final = form_pages("strict-origin")

_REFUSALS: Final = {
    LinkRefusal.UNKNOWN: "This link is not valid. A newer link may have replaced it.",
    LinkRefusal.EXPIRED: "This link has expired.",
    LinkRefusal.OTHER_BROWSER: "This link was opened in another browser.",
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SetupPages:
    """The pages that let an app be made at a service.

    They are served on `port` of this machine. `operator` tells the running service
    later which browser has made the app, and `first_admin` whose person is an admin.
    """

    service: ServiceProfile
    public_url: str
    port: int
    visitors: SetupVisitors
    setup: AppSetup
    operator: SignedCookie | None = None
    first_admin: SignedCookie | None = None

    @property
    def path(self) -> str:
        """Where a browser finds the pages."""
        return self.prefix + setup_path(self.service.name)

    @property
    def prefix(self) -> str:
        return urlsplit(self.public_url).path

    @property
    def address_problem(self) -> AddressProblem | None:
        """Why no app is offered: its webhooks could not arrive."""
        return self.service.find_address_problem(self.public_url)

    def link(self) -> str:
        """Return a new link to the pages."""
        return setup_url(self.public_url, self.service.name, self.visitors.new_key())

    def show(
        self, name: str, *, status: int = 200, sends_to: str = "", **facts: object
    ) -> Response:
        title = self.service.title
        known = {"path": self.path, "service": title, **facts}
        return _PAGES.show(name, status=status, sends_to=sends_to, **known)


# Takes the app that was registered, None where another process has done that.
Leave = Callable[[RegisteredApp | None], None]


def create_setup_app(site: SetupPages, leave: Leave) -> FastAPI:
    """Return the application; it calls `leave` when it is not needed any more."""
    app = FastAPI(title="Patchwright", openapi_url=None)
    add_body_errors(app)
    add_page_errors(app, site.prefix)
    _add_health(app, site, leave)

    @app.get("/")
    def home() -> Response:
        """Say what to do while the service has no App."""
        if site.address_problem is not None:
            return _show_address(site, site.address_problem)
        asks_for_token = site.visitors.asks_for_token
        return site.show("setup_home.html", asks_for_token=asks_for_token)

    @app.get(setup_path(site.service.name))
    def show(request: Request) -> Response:
        """Offer to create an App on the forge; needs the link or the token."""
        key = request.query_params.get("key")
        return _offer(site, request) if key is None else _open_link(site, request, key)

    @app.post(setup_path(site.service.name))
    async def enter(request: Request) -> Response:
        """Let a browser in with `security.admin_token`."""
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            return _locked(site, 413)
        return _show_token(site, _field(body, "key"))

    @app.get(setup_path(site.service.name) + "/done")
    def finish(request: Request) -> Response:
        """Receive the browser back from the forge, and store the new App."""
        return _finish(site, request, leave)

    return app


def _add_health(app: FastAPI, site: SetupPages, leave: Leave) -> None:
    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> JSONResponse:
        """Tell that the service is not set up."""
        # Another process may have been the one that was set up.
        if site.setup.fetch_settings() is not None:
            leave(None)
        return JSONResponse({"status": "not set up"}, status_code=503)


def _open_link(site: SetupPages, request: Request, key: str) -> Response:
    opened = site.visitors.open_link(key, request.cookies.get(_COOKIE, ""))
    if isinstance(opened, LinkRefusal):
        log.warning("setup_refused", reason=opened.value)
        return _locked(site, 403, opened)
    return _let_in(site, opened)


def _show_token(site: SetupPages, token: str) -> Response:
    browser = site.visitors.show_token(token)
    if browser is None:
        log.warning("setup_refused", reason="wrong-token")
        return _locked(site, 403)
    return _let_in(site, browser)


def _let_in(site: SetupPages, browser: str) -> Response:
    # The address without the key is the one that stays in the browser's history.
    response = RedirectResponse(site.path, _SEE_OTHER, {"Cache-Control": "no-store"})
    response.set_cookie(
        _COOKIE,
        browser,
        max_age=int(SETUP_TIME.total_seconds()),
        path=site.path,
        secure=site.public_url.startswith("https:"),
        httponly=True,
        samesite="lax",
    )
    return response


def _offer(site: SetupPages, request: Request) -> Response:
    if site.address_problem is not None:
        return _show_address(site, site.address_problem)
    state = site.visitors.find_state(request.cookies.get(_COOKIE, ""))
    if state is None:
        return _locked(site, 401)
    organization = request.query_params.get("organization", "").strip()
    offer = site.setup.offer(site.public_url, organization, state)
    if offer is None:
        return _problem(site, 400, "There is no organization with that name.")
    return site.show(
        "offer.html",
        sends_to=site.service.web_url,
        address=offer.address,
        manifest=offer.manifest,
        organization=organization,
        public_url=site.public_url,
        webhook_url=site.service.webhook_url,
        web_url=site.service.web_url,
        permissions=offer.permissions,
    )


def _finish(site: SetupPages, request: Request, leave: Leave) -> Response:
    browser = request.cookies.get(_COOKIE, "")
    if not site.visitors.use_state(browser, request.query_params.get("state", "")):
        log.warning("setup_refused", reason="wrong-state")
        problem = (
            "This page was opened in another browser than the set-up link, or it was "
            "already used."
        )
        return _problem(site, 403, problem)
    try:
        app = site.setup.register(request.query_params.get("code", ""))
    except ServiceError as error:
        log.warning("setup_failed", reason=error.reason, error=str(error))
        return _problem(
            site, 502, f"{site.service.title} did not return the App. {error}"
        )
    log.info("app_registered", app_id=app.id, slug=app.slug)
    response = site.show(
        "done.html", slug=app.slug, install_url=app.install_url, mention=app.mention
    )
    if site.operator is not None:
        site.operator.put(response, {"app": app.id})
    if site.first_admin is not None:
        site.first_admin.put(response, {"app": app.id})
    after = BackgroundTasks()
    after.add_task(leave, app)
    response.background = after
    return response


def _show_address(site: SetupPages, problem: AddressProblem) -> Response:
    return site.show(
        "address.html",
        status=409,
        problem=describe_address_problem(problem, site.public_url),
        ways=ways_to_be_reachable(site.service, site.port),
    )


def _locked(
    site: SetupPages, status: int, refusal: LinkRefusal | None = None
) -> Response:
    return site.show(
        "locked.html",
        status=status,
        asks_for_token=site.visitors.asks_for_token,
        refusal=refusal and _REFUSALS[refusal],
        was_opened=refusal is LinkRefusal.OTHER_BROWSER,
    )


def _problem(site: SetupPages, status: int, problem: str) -> Response:
    return site.show("problem.html", status=status, problem=problem)


def _field(body: bytes, name: str) -> str:
    fields = parse_qs(body.decode("utf-8", "replace"))
    return fields.get(name, [""])[0]


def serve_setup(site: SetupPages, server_socket: socket.socket) -> RegisteredApp | None:
    """Return when there is an App; the socket stays open for who serves next.

    None if it was made through another process.
    """
    registered: list[RegisteredApp] = []

    def leave(app: RegisteredApp | None) -> None:
        registered.extend([app] if app else [])
        server.should_exit = True

    host, port = server_socket.getsockname()[:2]
    server = make_server(create_setup_app(site, leave), host, port)
    # The server closes what it is given.
    server.run(sockets=[server_socket.dup()])
    return next(iter(registered), None)
