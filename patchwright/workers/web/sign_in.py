"""Signing in with the forge or a provider, adding an identity, and signing out."""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from urllib.parse import quote, urlencode

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from patchwright.core.plugin import AUTH_PATH, callback_path
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import AccountId
from patchwright.core.types.errors import AuthenticationError, ServiceError
from patchwright.core.types.people import Actor
from patchwright.workers.accounts.directory import People, ProvenPerson
from patchwright.workers.accounts.roles import Account
from patchwright.workers.accounts.sessions import NewSession, Session
from patchwright.workers.store.audit import AuditAction, AuditLog
from patchwright.workers.web.forms import FormTokens, SignedCookie, message_page
from patchwright.workers.web.frame import Site
from patchwright.workers.web.rate_limit import AttemptLimit, address_of
from patchwright.workers.web.session_cookie import (
    SessionCookie,
    SessionRenewal,
    describe_browser,
)
from patchwright.workers.web.visitors import TokenAddressRefusal

# Two slashes, or a backslash that browsers take for one, would begin another host.
# https://url.spec.whatwg.org/#relative-slash-state
_LOCAL: Final = re.compile(r"/(?![/\\])[!-\[\]-~]*\Z")


def local_path(wanted: str) -> str:
    """Return the path, or nothing where it leads elsewhere."""
    return wanted if _LOCAL.match(wanted) else ""


_TIME_TO_SIGN_IN: Final = timedelta(minutes=10)
# From one address: a company may have one for everybody.
MAX_SIGN_INS: Final = 60
SIGN_INS_PERIOD: Final = timedelta(minutes=10)
# "Go there with GET", whatever the request was.
_SEE_OTHER: Final = 303
ACCOUNT_PATH: Final = "/account"

log = structlog.get_logger(__name__)


def login_path(way: str) -> str:
    return f"{AUTH_PATH}/{way}/login"


@dataclass(frozen=True)
class SignInWay:
    """A service at which people prove who they are; `title` is what they call it.

    `address` takes a state and a verifier, and returns where a browser goes; `fetch`
    takes a code and the verifier, and returns who came back. Both may raise
    `ServiceError`. `sign_out_address` takes where to come back to, and returns where
    people sign out of the service too. `issuer` is its own name, if it has one.
    """

    name: str
    title: str
    attempts: SignedCookie
    address: Callable[[str, str], str]
    fetch: Callable[[str, str], ProvenPerson]
    sign_out_address: Callable[[str], str] | None = None
    issuer: str = ""


def make_attempts(
    way: str, secret: bytes, clock: Clock, *, secure: bool, prefix: str
) -> SignedCookie:
    """Return the cookie that binds an attempt to the browser in which it began."""
    return SignedCookie(
        name="patchwright_sign_in",
        path=f"{prefix}{AUTH_PATH}/{way}",
        life=_TIME_TO_SIGN_IN,
        secret=secret,
        clock=clock,
        secure=secure,
    )


def _wake_nobody(_person: Actor) -> None:
    """Do nothing where nobody waits for a sign-in."""


@dataclass(frozen=True)
class SignInRoutes:
    """What the addresses of `/auth` work with; `prefix` is the path that leads to us.

    `first_admin` is the cookie of the browser that opened the set-up link. `on_proven`
    is told of each person who has shown who they are.
    """

    ways: tuple[SignInWay, ...]
    cookie: SessionCookie
    people: People
    audit: AuditLog
    site: Site
    limit: AttemptLimit
    public_url: str = ""
    prefix: str = ""
    first_admin: SignedCookie | None = None
    on_proven: Callable[[Actor], None] = field(default=_wake_nobody)

    @property
    def entry_path(self) -> str:
        """Where people begin: the only way that there is, or the choice of one."""
        if len(self.ways) == 1:
            return login_path(self.ways[0].name)
        return AUTH_PATH

    @property
    def title(self) -> str:
        """What people sign in with."""
        return " or ".join(way.title for way in self.ways)

    @property
    def form_tokens(self) -> FormTokens:
        return self.site.form_tokens


# Something else for which people go to the forge, by what their `state` begins with up
# to a dot; ours has none. Each knows by itself whom it has sent there.
CallbackHandlers = Mapping[str, Callable[[Request], Response]]
_NO_HANDLERS: Final[CallbackHandlers] = {}


def add_sign_in(
    app: FastAPI,
    routes: SignInRoutes,
    callback_handlers: CallbackHandlers = _NO_HANDLERS,
) -> None:
    # None of them is async: the service and a browser's reading of it may take time.
    app.add_middleware(SessionRenewal, cookie=routes.cookie)
    app.add_middleware(TokenAddressRefusal)

    @app.get(AUTH_PATH, include_in_schema=False)
    def choose(request: Request) -> Response:
        """Show the ways to sign in."""
        return _choose(routes, request)

    for way in routes.ways:
        _add_way(app, routes, way, callback_handlers)

    @app.post(f"{AUTH_PATH}/logout", include_in_schema=False)
    def logout(request: Request) -> Response:
        """Sign the browser's user out."""
        return _logout(routes, request)


def _add_way(
    app: FastAPI, routes: SignInRoutes, way: SignInWay, handlers: CallbackHandlers
) -> None:
    @app.get(login_path(way.name), include_in_schema=False)
    def login(request: Request) -> Response:
        """Send the browser to the service to sign in."""
        return _login(routes, way, request)

    @app.get(callback_path(way.name), include_in_schema=False)
    def callback(request: Request) -> Response:
        """Receive the browser back from there, and go to the page it came from."""
        name, dot, _ = request.query_params.get("state", "").partition(".")
        handler = handlers.get(name) if dot else None
        return handler(request) if handler else _callback(routes, way, request)


def _choose(routes: SignInRoutes, request: Request) -> Response:
    wanted = local_path(request.query_params.get("next", ""))
    query = f"?{urlencode({'next': wanted})}" if wanted else ""
    ways = [
        (way.title, f"{routes.prefix}{login_path(way.name)}{query}")
        for way in routes.ways
    ]
    return routes.site.show("sign_in.html", None, ways=ways)


def _login(routes: SignInRoutes, way: SignInWay, request: Request) -> Response:
    if not routes.limit.take(address_of(request)):
        text = "There were too many from your address. Try again in ten minutes."
        return _refuse(routes, way, 429, "Too many sign-ins", text)
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    wanted = local_path(request.query_params.get("next", ""))
    facts = {"state": state, "verifier": verifier, "next": wanted}
    if "add" in request.query_params:
        adding = _find_adding(routes, request)
        if adding is None:
            return _refuse(routes, way, 403, *_NOT_ADDED)
        facts["account"] = adding
    try:
        address = way.address(state, verifier)
    except ServiceError as error:
        return _tell_failed(routes, way, error)
    response = RedirectResponse(address, _SEE_OTHER, _no_store())
    way.attempts.put(response, facts)
    return response


_NOT_ADDED: Final = (
    "Nothing was added",
    "Sign in again, and press the button on the page of your account.",
)


def _find_adding(routes: SignInRoutes, request: Request) -> str | None:
    """Return the account to which somebody adds an identity, on our own page."""
    session = routes.cookie.find(request)
    check = request.query_params.get("add", "")
    if session is None:
        return None
    holder = f"account:{session.account_id}"
    return session.account_id if routes.form_tokens.word_of(check, holder) else None


def _callback(routes: SignInRoutes, way: SignInWay, request: Request) -> Response:
    attempt, query = way.attempts.read(request), request.query_params
    is_ours = bool(attempt) and secrets.compare_digest(
        attempt.get("state", "").encode(), query.get("state", "").encode()
    )
    # Another provider may not answer for this one.
    # https://www.rfc-editor.org/rfc/rfc9207#section-2.4
    is_from_other = bool(way.issuer) and query.get("iss", way.issuer) != way.issuer
    if not is_ours or is_from_other:
        return _refuse(
            routes,
            way,
            400,
            "This sign-in did not start in this browser",
            "It started in another browser, took longer than ten minutes, or was "
            "already finished.",
        )
    code = query.get("code", "")
    if not code:
        text = f"{_sentence_name(way)} has not told this service who you are."
        return _refuse(routes, way, 403, "You declined the sign-in", text)
    try:
        proven = way.fetch(code, attempt.get("verifier", ""))
    except ServiceError as error:
        return _tell_failed(routes, way, error)
    if "account" in attempt:
        response = _add(routes, way, request, attempt["account"], proven)
    else:
        response = _sign_in(routes, way, request, attempt.get("next", ""), proven)
    way.attempts.drop(response)
    return response


def _sign_in(
    routes: SignInRoutes,
    way: SignInWay,
    request: Request,
    wanted: str,
    proven: ProvenPerson,
) -> Response:
    first = routes.first_admin
    is_first = first is not None and bool(first.read(request))
    account = routes.people.sign_in(proven, is_first_admin=is_first)
    person = proven.person
    log.info("signed_in", service=person.service, login=person.login)
    routes.on_proven(person)
    path = local_path(wanted)
    response = _redirect(path) if path else _signed_in(routes, way, person)
    if first is not None and is_first:
        first.drop(response)
    _begin_session(
        routes,
        request,
        response,
        account,
        service=person.service,
        provider_sid=proven.provider_sid,
    )
    return response


def _add(
    routes: SignInRoutes,
    way: SignInWay,
    request: Request,
    account_id: str,
    proven: ProvenPerson,
) -> Response:
    """Add whom somebody has proven to be to the account that they are signed in to."""
    session = routes.cookie.find(request)
    if session is None or session.account_id != account_id:
        return _refuse(routes, way, 403, *_NOT_ADDED)
    account = routes.people.attach(AccountId(account_id), proven)
    if account is None:
        return _refuse(
            routes,
            way,
            409,
            "Nothing was added",
            f"Your account already has somebody else at {way.title}. Remove that "
            "identity on the page of your account first.",
        )
    log.info("identity_added", service=way.name, login=proven.person.login)
    routes.on_proven(proven.person)
    response = _redirect(f"{routes.prefix}{ACCOUNT_PATH}?done=added")
    # It is still one of the first sign-in, and ends with that.
    _begin_session(
        routes,
        request,
        response,
        account,
        service=session.service,
        provider_sid=session.provider_sid,
    )
    return response


def _begin_session(
    routes: SignInRoutes,
    request: Request,
    response: Response,
    account: Account,
    *,
    service: str,
    provider_sid: str,
) -> None:
    browser = describe_browser(request.headers.get("user-agent", ""))
    new = NewSession(
        account_id=account.id,
        service=service,
        browser=browser,
        provider_sid=provider_sid,
    )
    routes.cookie.begin(request, response, new)


def _logout(routes: SignInRoutes, request: Request) -> Response:
    wanted = local_path(request.query_params.get("next", ""))
    response = _redirect(wanted) if wanted else Response()
    # A form of another site brings no cookie of ours, and signs nobody out.
    ended = routes.cookie.end(request, response)
    if ended is not None:
        by = f"account:{ended.account_id}"
        routes.audit.note(
            AuditAction.SIGNED_OUT, by=by, account_id=ended.account_id, about=by
        )
    if wanted:
        return response
    page = _signed_out(routes, ended)
    page.raw_headers.extend(
        (name, value) for name, value in response.raw_headers if name == b"set-cookie"
    )
    return page


def _redirect(place: str) -> Response:
    return RedirectResponse(place, _SEE_OTHER, _no_store())


def _signed_in(routes: SignInRoutes, way: SignInWay, person: Actor) -> Response:
    return message_page(
        "You are signed in",
        f"You are {person.login} on {way.title}.",
        links={"Go to the start page": f"{routes.prefix}/"},
    )


def _signed_out(routes: SignInRoutes, ended: Session | None) -> Response:
    links = {}
    for way in routes.ways:
        if ended is None or ended.service != way.name or way.sign_out_address is None:
            continue
        try:
            there = way.sign_out_address(f"{routes.public_url}{AUTH_PATH}")
        except ServiceError as error:
            log.warning("provider_sign_out_unknown", reason=error.reason)
            continue
        if there:
            links[f"Sign out of {way.title} too"] = there
    again = {
        f"Sign in with {way.title}": _login_url(routes, way) for way in routes.ways
    }
    return message_page(
        "You are signed out", "You can close this page.", links=links | again
    )


def _tell_failed(routes: SignInRoutes, way: SignInWay, error: ServiceError) -> Response:
    log.warning("sign_in_failed", reason=error.reason, error=str(error))
    status = 401 if isinstance(error, AuthenticationError) else 502
    text = f"{_sentence_name(way)} did not say who you are: {error}"
    return _refuse(routes, way, status, "The sign-in did not work", text)


def _refuse(
    routes: SignInRoutes, way: SignInWay, status: int, title: str, text: str
) -> Response:
    """Say why nobody was signed in, and how to try again; the attempt is over."""
    links = {f"Sign in with {way.title}": _login_url(routes, way)}
    response = message_page(title, text, status=status, links=links)
    way.attempts.drop(response)
    return response


def _sentence_name(way: SignInWay) -> str:
    return way.title[:1].upper() + way.title[1:]


def _login_url(routes: SignInRoutes, way: SignInWay) -> str:
    return f"{routes.prefix}{login_path(way.name)}"


def adding_url(prefix: str, way: str, check: str) -> str:
    """Return where somebody adds an identity; `check` is a form token of theirs."""
    return f"{prefix}{login_path(way)}?add={quote(check, safe='')}"


def _no_store() -> dict[str, str]:
    return {"Cache-Control": "no-store"}
