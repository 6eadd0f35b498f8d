"""The addresses at which our app is installed at a service."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from patchwright.core.plugin import AppInstallation
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import PermissionDeniedError, ServiceError
from patchwright.workers.web.forms import SignedCookie

_TIME_TO_AGREE: Final = timedelta(minutes=10)
_SEE_OTHER: Final = 303
_NO_STORE: Final = {"Cache-Control": "no-store"}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class InstallRoutes:
    """`attempts` holds in the browser what must come back from the service."""

    service: str
    installation: AppInstallation
    attempts: SignedCookie

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
    attempts = SignedCookie(
        name=f"patchwright_{service}",
        path=f"{urlsplit(public_url).path}{installation.callback_path}",
        life=_TIME_TO_AGREE,
        secret=secret,
        clock=clock,
        secure=public_url.startswith("https:"),
    )
    return InstallRoutes(service, installation, attempts)


def _installed(routes: InstallRoutes, request: Request) -> Response:
    held = routes.attempts.read(request).get("state", "")
    state = request.query_params.get("state", "")
    if not held or not secrets.compare_digest(held.encode(), state.encode()):
        path = routes.installation.path
        return _answer(
            400,
            f"The installation did not start in this browser. Start again at {path}.",
        )
    code = request.query_params.get("code", "")
    if not code:
        title = routes.installation.title
        return _answer(403, f"Nothing was installed: somebody declined it in {title}.")
    try:
        installed = routes.installation.install(code)
    except ServiceError as error:
        event = f"{routes.service}_not_installed"
        log.warning(event, reason=error.reason, error=str(error))
        status = 403 if isinstance(error, PermissionDeniedError) else 502
        return _answer(status, f"Nothing was installed: {error}")
    event = f"{routes.service}_installed"
    log.info(event, installation=installed.id, name=installed.name)
    return _answer(200, f"Patchwright is installed in {installed.name}.")


def _answer(status: int, text: str) -> Response:
    return PlainTextResponse(text, status, _NO_STORE)
