"""The addresses at which our app is installed at a service, and the page after it."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote, urlsplit

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from patchwright.core.plugin import (
    AppInstallation,
    InstallationReach,
    ServiceProfile,
)
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import PermissionDeniedError, ServiceError
from patchwright.workers.web.forms import SignedCookie, form_pages, message_page
from patchwright.workers.web.frame import Site

_TIME_TO_AGREE: Final = timedelta(minutes=10)
_SEE_OTHER: Final = 303
_NO_STORE: Final = {"Cache-Control": "no-store"}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class InstallRoutes:
    """`attempts` holds in the browser what must come back from the service.

    `prefix` is the path under which people reach us.
    """

    service: str
    installation: AppInstallation
    attempts: SignedCookie
    prefix: str

    def add_to(self, app: FastAPI) -> None:
        app.get(self.installation.path, include_in_schema=False)(self._begin)
        app.get(self.installation.callback_path, include_in_schema=False)(
            self._callback
        )

    def _begin(self) -> Response:
        """Send the browser to the service to install the app."""
        state = secrets.token_urlsafe(32)
        address = self.installation.address(state)
        response = RedirectResponse(address, _SEE_OTHER, _NO_STORE)
        self.attempts.put(response, {"state": state})
        return response

    def _callback(self, request: Request) -> Response:
        """Receive the browser back from the service, and finish the installation."""
        response = _installed(self, request)
        self.attempts.drop(response)
        return response


def make_install_routes(
    service: str,
    installation: AppInstallation,
    settings: Settings,
    secret: bytes | None,
    clock: Clock,
) -> InstallRoutes | None:
    """Return the routes, None where browsers could not come back or be known again."""
    public_url = settings.server.public_url
    if not public_url or secret is None:
        missing = "security.session_secret" if public_url else "server.public_url"
        event = f"{service}_install_off"
        log.warning(event, missing=missing)
        return None
    prefix = urlsplit(public_url).path
    attempts = SignedCookie(
        name=f"patchwright_{service}",
        path=f"{prefix}{installation.callback_path}",
        life=_TIME_TO_AGREE,
        secret=secret,
        clock=clock,
        secure=public_url.startswith("https:"),
    )
    return InstallRoutes(service, installation, attempts, prefix)


def _installed(routes: InstallRoutes, request: Request) -> Response:
    held = routes.attempts.read(request).get("state", "")
    state = request.query_params.get("state", "")
    if not held or not secrets.compare_digest(held.encode(), state.encode()):
        return _refuse(
            routes,
            400,
            "The installation did not start in this browser, or it was already "
            "finished.",
        )
    code = request.query_params.get("code", "")
    if not code:
        title = routes.installation.title
        return _refuse(routes, 403, f"Somebody declined the installation in {title}.")
    try:
        installed = routes.installation.install(code)
    except ServiceError as error:
        event = f"{routes.service}_not_installed"
        log.warning(event, reason=error.reason, error=str(error))
        status = 403 if isinstance(error, PermissionDeniedError) else 502
        return _refuse(routes, status, str(error))
    event = f"{routes.service}_installed"
    log.info(event, installation=installed.id, name=installed.name)
    title = f"Installed in {installed.name}"
    return message_page(title, f"Go back to {routes.installation.title} and try it.")


def _refuse(routes: InstallRoutes, status: int, text: str) -> Response:
    links = {"Start again": f"{routes.prefix}{routes.installation.path}"}
    return message_page("Nothing was installed", text, status=status, links=links)


_OPERATOR_LIFE: Final = timedelta(hours=1)
_APPROVAL_WANTED: Final = "request"
_SIGN_IN: Final = "Sign in and check the set-up"
_PAGES: Final = form_pages("same-origin")


def make_operator_cookie(
    service: str, settings: Settings, secret: bytes | None, clock: Clock
) -> SignedCookie | None:
    """Return the cookie of the browser in which our app was made at a service."""
    public_url = settings.server.public_url
    if not public_url or secret is None:
        return None
    return SignedCookie(
        name="patchwright_operator",
        path=f"{urlsplit(public_url).path}/setup/{service}",
        life=_OPERATOR_LIFE,
        secret=secret,
        clock=clock,
        secure=public_url.startswith("https:"),
    )


def make_first_admin_cookie(
    settings: Settings, secret: bytes | None, clock: Clock
) -> SignedCookie | None:
    """Return the cookie of the browser whose person becomes the first admin.

    It opened the set-up link, and is sent along when the person signs in.
    """
    public_url = settings.server.public_url
    if not public_url or secret is None:
        return None
    return SignedCookie(
        name="patchwright_first_admin",
        path=f"{urlsplit(public_url).path}/auth",
        life=_OPERATOR_LIFE,
        secret=secret,
        clock=clock,
        secure=public_url.startswith("https:"),
    )


@dataclass(frozen=True)
class InstalledPage:
    """The page to which a forge sends a browser when our app was installed there.

    Only the browser in which the app was made is told the names of repositories, and
    only for it `on_installed` is called: anybody can open the address. The addresses
    at which the app was made say that it is. Admins check the service at `setup_path`,
    and people ask at `request_path`.
    """

    site: Site
    setup_path: str
    request_path: str
    forge: ServiceProfile
    operator: SignedCookie | None
    fetch_reach: Callable[[str], InstallationReach | None]
    on_installed: Callable[[InstallationReach], None]

    def add_to(self, app: FastAPI) -> None:
        app.get(f"/setup/{self.forge.name}/installed", include_in_schema=False)(
            self._show
        )
        app.get(f"/setup/{self.forge.name}", include_in_schema=False)(self._show_made)
        app.get(f"/setup/{self.forge.name}/done", include_in_schema=False)(
            self._show_made
        )

    def _show_made(self) -> Response:
        """Say that there is an App already; until then, the App is made here."""
        links = {"Go to the set-up page": f"{self.site.prefix}{self.setup_path}"}
        return message_page(
            f"{self.forge.title} is set up already",
            "There is nothing left to do at this address. The set-up page checks what "
            "works; sign in there as an admin.",
            links=links,
        )

    def _show(self, request: Request) -> Response:
        """Say what to try after the App was installed."""
        is_operator = self.operator is not None and bool(self.operator.read(request))
        if request.query_params.get("setup_action") == _APPROVAL_WANTED:
            links = {_SIGN_IN: self._sign_in(self.setup_path)} if is_operator else {}
            return message_page(
                "Approval requested",
                f"{self.forge.title} has asked an owner of the organization to install "
                "the App. Mention it after that.",
                links=links,
            )
        reach = self._find_reach(request) if is_operator else None
        if reach is not None:
            log.info("app_installed", repositories=reach.count)
            self.on_installed(reach)
        where = count_noun(reach.count, "repository", "repositories") if reach else ""
        return _PAGES.show(
            "installed.html",
            heading=f"Installed in {where}" if where else "Installed",
            repository=reach.first if reach else "",
            site=self.forge.web_url,
            mention=self.forge.mention,
            is_operator=is_operator,
            can_sign_in=bool(self.site.login_path),
            sign_in=_SIGN_IN,
            check=self._sign_in(self.setup_path),
            ask=self._sign_in(self.request_path),
        )

    def _sign_in(self, path: str) -> str:
        """Return where to sign in, and go on to a page."""
        back = quote(f"{self.site.prefix}{path}", safe="")
        return f"{self.site.prefix}{self.site.login_path}?next={back}"

    def _find_reach(self, request: Request) -> InstallationReach | None:
        installation = request.query_params.get("installation_id", "")
        if not (installation.isascii() and installation.isdigit()):
            return None
        try:
            return self.fetch_reach(installation)
        except ServiceError as error:
            log.warning("reach_unknown", reason=error.reason, error=str(error))
            return None
