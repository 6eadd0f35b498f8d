"""The pages of a service whose forge knows no app of it yet: they let one be made."""

import hashlib
import secrets
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final
from urllib.parse import parse_qs, urlsplit

import structlog
from fastapi import BackgroundTasks, FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import SecretStr

from patchwright.core.plugin import AppSetup, ServiceProfile
from patchwright.core.settings.model import variable_name
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import ServiceError
from patchwright.workers.web.body import BodyTooLargeError, add_body_errors, read_body
from patchwright.workers.web.forms import form_pages
from patchwright.workers.web.server import make_server

# As long as GitHub lets a person take between the manifest and the App.
# https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
SETUP_TIME: Final = timedelta(hours=1)


@dataclass(frozen=True)
class _SetupSession:
    state: str
    until: datetime


class SetupVisitors:
    """Knows the browsers with access, and the state that each sent to the forge.

    With an `admin_token` that is the key, as often as it is shown. Otherwise a key is
    made that works once, so that it is useless when somebody finds it in a log later.
    """

    def __init__(self, admin_token: SecretStr | None, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._sessions: dict[str, _SetupSession] = {}
        self.once = "" if admin_token else secrets.token_urlsafe(32)
        self._key = admin_token.get_secret_value() if admin_token else self.once

    def let_in(self, key: str) -> str | None:
        """Return what the browser is known by from now on, or None: not the key."""
        with self._lock:
            if not self._key or not _same(self._key, key):
                return None
            if self.once:
                self._key = ""
            browser = secrets.token_urlsafe(32)
            self._sessions[_name(browser)] = self._begin()
            return browser

    def find_state(self, browser: str) -> str | None:
        """Return the state that the forge sends back, or None without access."""
        with self._lock:
            session = self._find(browser)
            return session.state if session else None

    def use_state(self, browser: str, state: str) -> bool:
        """Tell whether the forge sent it back to the same browser; it counts once."""
        with self._lock:
            session = self._find(browser)
            if session is None or not _same(session.state, state):
                return False
            self._sessions[_name(browser)] = self._begin()
            return True

    def _begin(self) -> _SetupSession:
        return _SetupSession(secrets.token_urlsafe(32), self._clock.now() + SETUP_TIME)

    def _find(self, browser: str) -> _SetupSession | None:
        for name in list(self._outdated()):
            del self._sessions[name]
        return self._sessions.get(_name(browser))

    def _outdated(self) -> Iterator[str]:
        now = self._clock.now()
        return (
            name for name, session in self._sessions.items() if session.until <= now
        )


def _name(browser: str) -> str:
    # To look for a digest tells nothing by the time it takes.
    return hashlib.sha256(browser.encode()).hexdigest()


def _same(known: str, given: str) -> bool:
    return secrets.compare_digest(known.encode(), given.encode())


_COOKIE: Final = "patchwright_setup"
_MAX_FORM_BYTES: Final = 4096
_SEE_OTHER: Final = 303
# The forge gets to know from where a manifest comes, but not the whole address.
_PAGES: Final = form_pages("strict-origin")

log = structlog.get_logger(__name__)


def setup_path(service: str) -> str:
    return f"/setup/{service}"


@dataclass(frozen=True)
class SetupPages:
    """The pages that let an app be made at a service."""

    service: ServiceProfile
    public_url: str
    visitors: SetupVisitors
    setup: AppSetup

    @property
    def path(self) -> str:
        """Where a browser finds the pages."""
        return urlsplit(self.public_url).path + setup_path(self.service.name)

    def show(
        self, name: str, *, status: int = 200, sends_to: str = "", **facts: object
    ) -> Response:
        title = self.service.title
        known = {"path": self.path, "service": title, **facts}
        return _PAGES.show(name, status=status, sends_to=sends_to, **known)


def create_setup_app(site: SetupPages, leave: Callable[[], None]) -> FastAPI:
    """Return the application; it calls `leave` when it is not needed any more."""
    app = FastAPI(title="Patchwright", openapi_url=None)
    add_body_errors(app)
    _add_health(app, site, leave)

    @app.get(setup_path(site.service.name))
    def show(request: Request) -> Response:
        """Offer to create an App on the forge; needs the key or the token."""
        key = request.query_params.get("key")
        return _offer(site, request) if key is None else _let_in(site, key)

    @app.post(setup_path(site.service.name))
    async def enter(request: Request) -> Response:
        """Let a browser in with the key, or with `security.admin_token`."""
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            return _locked(site, 413)
        return _let_in(site, _field(body, "key"))

    @app.get(setup_path(site.service.name) + "/done")
    def finish(request: Request) -> Response:
        """Receive the browser back from the forge, and store the new App."""
        return _finish(site, request, leave)

    return app


def _add_health(app: FastAPI, site: SetupPages, leave: Callable[[], None]) -> None:
    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> JSONResponse:
        """Tell that the service is not set up."""
        # Another process may have been the one that was set up.
        if site.setup.fetch_settings() is not None:
            leave()
        return JSONResponse({"status": "not set up"}, status_code=503)


def _let_in(site: SetupPages, key: str) -> Response:
    browser = site.visitors.let_in(key)
    if browser is None:
        log.warning("setup_refused")
        return _locked(site, 403)
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
    state = site.visitors.find_state(request.cookies.get(_COOKIE, ""))
    if state is None:
        return _locked(site, 401)
    if not site.public_url:
        return site.show("address.html", status=409)
    organization = request.query_params.get("organization", "").strip()
    offer = site.setup.offer(site.public_url, organization, state)
    if offer is None:
        return _problem(site, 400, "That is not the name of an organization.")
    return site.show(
        "offer.html",
        sends_to=site.service.web_url,
        address=offer.address,
        manifest=offer.manifest,
        organization=organization,
        public_url=site.public_url,
        web_url=site.service.web_url,
        permissions=offer.permissions,
    )


def _finish(site: SetupPages, request: Request, leave: Callable[[], None]) -> Response:
    browser = request.cookies.get(_COOKIE, "")
    if not site.visitors.use_state(browser, request.query_params.get("state", "")):
        log.warning("setup_refused")
        problem = (
            "The set-up did not start in this browser, or it was already finished."
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
        "done.html",
        slug=app.slug,
        install_url=app.install_url,
        mention=site.service.mention,
        mention_variable=variable_name((site.service.name, "mention")),
    )
    after = BackgroundTasks()
    after.add_task(leave)
    response.background = after
    return response


def _locked(site: SetupPages, status: int) -> Response:
    asks_for_token = not site.visitors.once
    return site.show("locked.html", status=status, asks_for_token=asks_for_token)


def _problem(site: SetupPages, status: int, problem: str) -> Response:
    return site.show("problem.html", status=status, problem=problem)


def _field(body: bytes, name: str) -> str:
    fields = parse_qs(body.decode("utf-8", "replace"))
    return fields.get(name, [""])[0]


def serve_setup(site: SetupPages, server_socket: socket.socket) -> None:
    """Return when there is an App; the socket stays open for who serves next."""

    def leave() -> None:
        server.should_exit = True

    host, port = server_socket.getsockname()[:2]
    server = make_server(create_setup_app(site, leave), host, port)
    # The server closes what it is given.
    server.run(sockets=[server_socket.dup()])
