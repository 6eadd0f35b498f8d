"""Signing in with the forge and out again, and who is signed in."""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from patchwright.core.plugin import SignInProvider
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import AuthenticationError, ServiceError
from patchwright.core.types.people import Actor
from patchwright.workers.web.forms import SignedCookie, message_page

# Two slashes, or a backslash that browsers take for one, would begin another host.
# https://url.spec.whatwg.org/#relative-slash-state
_LOCAL: Final = re.compile(r"/(?![/\\])[!-\[\]-~]*\Z")


def local_path(wanted: str) -> str:
    """Return the path, or nothing where it leads elsewhere."""
    return wanted if _LOCAL.match(wanted) else ""


_LIFE: Final = timedelta(hours=12)


class Sessions:
    """Keeps who somebody is in a cookie; nothing of it is stored on our side."""

    def __init__(self, secret: bytes, clock: Clock, *, secure: bool) -> None:
        self._cookie = SignedCookie(
            name="patchwright_session",
            path="/",
            life=_LIFE,
            secret=secret,
            clock=clock,
            secure=secure,
        )

    def viewer_of(self, request: Request) -> Actor | None:
        """Return who is signed in, or None."""
        facts = self._cookie.read(request)
        service, login = facts.get("service"), facts.get("login")
        if not service or not login:
            return None
        return Actor(service=service, login=login, external_id=facts.get("id", ""))

    def begin(self, response: Response, viewer: Actor) -> None:
        facts = {
            "service": viewer.service,
            "login": viewer.login,
            "id": viewer.external_id,
        }
        self._cookie.put(response, facts)

    def end(self, response: Response) -> None:
        self._cookie.drop(response)


_TIME_TO_SIGN_IN: Final = timedelta(minutes=10)
# "Go there with GET", whatever the request was.
_SEE_OTHER: Final = 303
_PATH: Final = "/auth"

log = structlog.get_logger(__name__)


def login_path(forge: str) -> str:
    return f"{_PATH}/{forge}/login"


def callback_path(forge: str) -> str:
    """Return where the forge sends back those who prove who they are."""
    return f"{_PATH}/{forge}/callback"


@dataclass(frozen=True)
class SignInRoutes:
    """What the addresses of `/auth` work with; `prefix` is the path that leads to us.

    `title` is what people call the forge.
    """

    forge: str
    provider: SignInProvider
    sessions: Sessions
    attempts: SignedCookie
    title: str
    prefix: str = ""


def make_sign_in_routes(
    forge: str,
    provider: SignInProvider,
    secret: bytes,
    clock: Clock,
    *,
    title: str,
    secure: bool,
    prefix: str = "",
) -> SignInRoutes:
    """Return the routes; `prefix` is the path under which people reach the service."""
    attempts = SignedCookie(
        name="patchwright_sign_in",
        path=f"{prefix}{_PATH}/{forge}",
        life=_TIME_TO_SIGN_IN,
        secret=secret,
        clock=clock,
        secure=secure,
    )
    sessions = Sessions(secret, clock, secure=secure)
    return SignInRoutes(forge, provider, sessions, attempts, title, prefix)


# Something else for which people go to the forge, by what their `state` begins with up
# to a dot; ours has none. Each knows by itself whom it has sent there.
CallbackHandlers = Mapping[str, Callable[[Request], Response]]
_NO_HANDLERS: Final[CallbackHandlers] = {}


def add_sign_in(
    app: FastAPI,
    routes: SignInRoutes,
    callback_handlers: CallbackHandlers = _NO_HANDLERS,
) -> None:
    # None of them is async: the forge and a browser's reading of it may take time.
    @app.get(login_path(routes.forge), include_in_schema=False)
    def login(request: Request) -> Response:
        """Send the browser to the forge to sign in."""
        return _login(routes, request)

    @app.get(callback_path(routes.forge), include_in_schema=False)
    def callback(request: Request) -> Response:
        """Receive the browser back from the forge, and go to the page it came from."""
        name, dot, _ = request.query_params.get("state", "").partition(".")
        handler = callback_handlers.get(name) if dot else None
        return handler(request) if handler else _callback(routes, request)

    @app.post("/auth/logout", include_in_schema=False)
    def logout(request: Request) -> Response:
        """Sign the browser's user out."""
        wanted = local_path(request.query_params.get("next", ""))
        response = _redirect(wanted) if wanted else _signed_out(routes)
        # A form of another site brings no cookie of ours, and signs nobody out.
        if routes.sessions.viewer_of(request) is not None:
            routes.sessions.end(response)
        return response


def _login(routes: SignInRoutes, request: Request) -> Response:
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    address = routes.provider.address(state, verifier)
    response = RedirectResponse(address, _SEE_OTHER, _no_store())
    wanted = local_path(request.query_params.get("next", ""))
    facts = {"state": state, "verifier": verifier, "next": wanted}
    routes.attempts.put(response, facts)
    return response


def _callback(routes: SignInRoutes, request: Request) -> Response:
    attempt = routes.attempts.read(request)
    state = request.query_params.get("state", "")
    if not attempt or not secrets.compare_digest(
        attempt.get("state", "").encode(), state.encode()
    ):
        return _refuse(
            routes,
            400,
            "This sign-in did not start in this browser",
            "It started in another browser, took longer than ten minutes, or was "
            "already finished.",
        )
    code = request.query_params.get("code", "")
    if not code:
        text = f"{routes.title} has not told this service who you are."
        return _refuse(routes, 403, "You declined the sign-in", text)
    try:
        person = routes.provider.fetch_person(code, attempt.get("verifier", ""))
    except ServiceError as error:
        log.warning("sign_in_failed", reason=error.reason, error=str(error))
        status = 401 if isinstance(error, AuthenticationError) else 502
        text = f"{routes.title} did not say who you are: {error}"
        return _refuse(routes, status, "The sign-in did not work", text)
    log.info("signed_in", service=person.service, login=person.login)
    wanted = local_path(attempt.get("next", ""))
    response = _redirect(wanted) if wanted else _signed_in(routes, person)
    routes.sessions.begin(response, person)
    return _drop_attempt(routes, response)


def _drop_attempt(routes: SignInRoutes, response: Response) -> Response:
    """Let the attempt count once, with any result."""
    routes.attempts.drop(response)
    return response


def _redirect(place: str) -> Response:
    return RedirectResponse(place, _SEE_OTHER, _no_store())


def _signed_in(routes: SignInRoutes, person: Actor) -> Response:
    return message_page(
        "You are signed in",
        f"You are {person.login} on {routes.title}.",
        links={"Go to the start page": f"{routes.prefix}/"},
    )


def _signed_out(routes: SignInRoutes) -> Response:
    return message_page(
        "You are signed out",
        "You can close this page.",
        links={f"Sign in with {routes.title}": _login_url(routes)},
    )


def _refuse(routes: SignInRoutes, status: int, title: str, text: str) -> Response:
    """Say why nobody was signed in, and how to try again."""
    links = {f"Sign in with {routes.title}": _login_url(routes)}
    response = message_page(title, text, status=status, links=links)
    return _drop_attempt(routes, response)


def _login_url(routes: SignInRoutes) -> str:
    return f"{routes.prefix}{login_path(routes.forge)}"


def _no_store() -> dict[str, str]:
    return {"Cache-Control": "no-store"}
