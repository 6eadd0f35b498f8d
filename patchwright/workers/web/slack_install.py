"""The addresses at which a workspace of Slack installs the app."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from patchwright.core.clock import Clock
from patchwright.core.errors import PermissionDeniedError, ServiceError
from patchwright.integrations.slack.app import CALLBACK_PATH, AppInstaller
from patchwright.integrations.slack.tokens import SlackInstallation
from patchwright.workers.web.cookies import SignedCookie

INSTALL_PATH: Final = "/auth/slack/install"
_TIME_TO_AGREE: Final = timedelta(minutes=10)
_SEE_OTHER: Final = 303
_NO_STORE: Final = {"Cache-Control": "no-store"}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SlackInstallRoutes:
    """`attempts` holds in the browser what must come back from Slack."""

    install: AppInstaller
    save: Callable[[SlackInstallation], None]
    attempts: SignedCookie

    def add_to(self, app: FastAPI) -> None:
        app.get(INSTALL_PATH, include_in_schema=False)(self._begin)
        app.get(CALLBACK_PATH, include_in_schema=False)(self._callback)

    def _begin(self) -> Response:
        """Send the browser to Slack, and note that it was this one."""
        state = secrets.token_urlsafe(32)
        address = self.install.address(state)
        response = RedirectResponse(address, _SEE_OTHER, _NO_STORE)
        self.attempts.put(response, {"state": state})
        return response

    def _callback(self, request: Request) -> Response:
        """Take the browser back, and keep the workspace's token."""
        response = _installed(self, request)
        self.attempts.drop(response)
        return response


def make_slack_install_routes(
    install: AppInstaller,
    save: Callable[[SlackInstallation], None],
    secret: bytes,
    clock: Clock,
    *,
    secure: bool,
    prefix: str,
) -> SlackInstallRoutes:
    attempts = SignedCookie(
        name="patchwright_slack",
        path=f"{prefix}{CALLBACK_PATH}",
        life=_TIME_TO_AGREE,
        secret=secret,
        clock=clock,
        secure=secure,
    )
    return SlackInstallRoutes(install, save, attempts)


def _installed(routes: SlackInstallRoutes, request: Request) -> Response:
    held = routes.attempts.read(request).get("state", "")
    told = request.query_params.get("state", "")
    if not held or not secrets.compare_digest(held.encode(), told.encode()):
        return _answer(400, f"This did not begin here. Begin again at {INSTALL_PATH}.")
    code = request.query_params.get("code", "")
    if not code:
        return _answer(403, "Nothing was installed: Slack was told not to.")
    try:
        installed = routes.install.exchange(code)
    except ServiceError as error:
        log.warning("slack_not_installed", reason=error.reason, error=str(error))
        status = 403 if isinstance(error, PermissionDeniedError) else 502
        return _answer(status, f"Nothing was installed: {error}")
    routes.save(installed)
    log.info("slack_installed", installation=installed.id, name=installed.name)
    return _answer(200, f"Patchwright is installed in {installed.name}.")


def _answer(status: int, text: str) -> Response:
    return PlainTextResponse(text, status, _NO_STORE)
