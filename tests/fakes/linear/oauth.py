"""The web flow by which a workspace installs an app, and the tokens that come of it.

https://linear.app/developers/oauth-2-0-authentication
https://linear.app/developers/oauth-actor-authorization
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from datetime import timedelta
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.linear.exchange import Json
from tests.fakes.linear.state import App, Grant, Token, User, World

SCOPES = frozenset(
    {
        "read",
        "write",
        "issues:create",
        "comments:create",
        "timeSchedule:write",
        "admin",
        "app:assignable",
        "app:mentionable",
        "customer:read",
        "customer:write",
        "initiative:read",
        "initiative:write",
    }
)
OF_APPS = frozenset({"app:assignable", "app:mentionable"})
TOKEN_LIFE = timedelta(hours=24)
# Without a person there is no refresh token, and a longer life.
CLIENT_LIFE = timedelta(days=30)
CODE_LIFE = timedelta(minutes=10)
# So long an old refresh token still gives the same new pair, if an answer got lost.
GRACE = timedelta(minutes=30)


class OAuthError(Exception):
    """What the token endpoint answers with instead of a token."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.error, self.status = error, status

    def answer(self) -> Answer:
        body = {"error": self.error, "error_description": str(self)}
        return Answer(status=self.status, body=body)


def authorize_page(world: World, request: Request) -> Answer:
    """Show what an app asks for; posting the form is a yes, as `world.at_browser`."""
    asked = dict(request.query)
    try:
        app, scopes = _checked(world, asked)
    except OAuthError as problem:
        return Answer(
            status=400, body=_page("Linear", f"<p>{escape(str(problem))}</p>")
        )
    if request.method == "POST":
        return Answer(status=302, headers={"Location": approve(world, asked)})
    items = "".join(f"<li>{escape(one)}</li>" for one in sorted(scopes))
    who = "as itself" if asked.get("actor") == "app" else "for you"
    action = escape(f"{request.path}?{urlencode(asked)}")
    inner = (
        f"<p>{escape(app.name)} wants to act {who} in your workspace:</p>"
        f"<ul>{items}</ul>"
        f'<form method="post" action="{action}"><button>Authorize</button></form>'
    )
    return Answer(status=200, body=_page(f"Authorize {app.name}", inner))


def approve(world: World, asked: Mapping[str, str], user_id: str = "") -> str:
    """Agree, as a person, to what was asked for; return the way back to the app."""
    app, scopes = _checked(world, asked)
    person = world.get(User, user_id or world.at_browser)
    is_app = asked.get("actor") == "app"
    if is_app and not person.admin:
        raise OAuthError("access_denied", "Only admins can install an app")
    code = f"code-{world.new_id()}"
    world.grants[code] = Grant(
        client_id=app.client_id,
        user=app_user(world, app, person.workspace).id if is_app else person.id,
        scopes=scopes,
        redirect_uri=asked["redirect_uri"],
        expires=world.clock.now() + CODE_LIFE,
        is_app=is_app,
        challenge=asked.get("code_challenge", ""),
    )
    back = {"code": code}
    if "state" in asked:
        back["state"] = asked["state"]
    return f"{asked['redirect_uri']}?{urlencode(back)}"


def follow(world: World, address: str, user_id: str) -> str:
    """Agree, as a person, to what an address asks for; return the way back."""
    return approve(world, dict(parse_qsl(urlsplit(address).query)), user_id)


def _checked(world: World, asked: Mapping[str, str]) -> tuple[App, frozenset[str]]:
    app = world.apps.get(asked.get("client_id", ""))
    if app is None:
        raise OAuthError("invalid_client", "Invalid client_id")
    if asked.get("redirect_uri") not in app.redirect_uris:
        raise OAuthError("invalid_request", "Invalid redirect_uri for the application")
    if asked.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "response_type must be code")
    if asked.get("code_challenge") and asked.get("code_challenge_method") != "S256":
        raise OAuthError("invalid_request", "code_challenge_method must be S256")
    wanted = asked.get("scope", "").replace(",", " ").split()
    scopes = frozenset(wanted) | {"read"}
    return app, _allowed(scopes, is_app=asked.get("actor") == "app")


def _allowed(scopes: frozenset[str], *, is_app: bool) -> frozenset[str]:
    if unknown := scopes - SCOPES:
        raise OAuthError("invalid_scope", f"Invalid scope: {min(unknown)}")
    if is_app and "admin" in scopes:
        raise OAuthError("invalid_scope", "admin cannot be had with actor=app")
    if not is_app and scopes & OF_APPS:
        raise OAuthError("invalid_scope", "app scopes need actor=app")
    return scopes


def app_user(world: World, app: App, workspace: str) -> User:
    """Return the user that an app has in a workspace; it has a new one at first."""
    for one in world.all(User):
        if one.app and one.workspace == workspace and one.name == app.name:
            return one
    name = app.name.lower().replace(" ", "-")
    made = User(
        **world.new(),
        workspace=workspace,
        name=app.name,
        display_name=name,
        email=f"{name}@oauthapp.linear.app",
        app=True,
    )
    return world.add(made)


def give_token(
    world: World,
    app: App,
    user: User,
    scopes: frozenset[str],
    *,
    life: timedelta = TOKEN_LIFE,
    with_refresh: bool = True,
) -> Token:
    made = Token(
        access=f"lin_oauth_{world.ids.new()}",
        client_id=app.client_id,
        user=user.id,
        scopes=scopes,
        expires=world.clock.now() + life,
        refresh=f"lin_refresh_{world.ids.new()}" if with_refresh else "",
        is_app=user.app,
    )
    world.tokens.append(made)
    return made


def token_endpoint(world: World, request: Request) -> Answer:
    try:
        asked, app = _client(world, request)
        grant = _GRANTS.get(asked.get("grant_type", ""), _no_grant)
        made = grant(world, app, asked)
    except OAuthError as problem:
        return problem.answer()
    return Answer(status=200, body=_shown(world, made))


def _shown(world: World, token: Token) -> Json:
    left_s = (token.expires - world.clock.now()).total_seconds()
    shown: Json = {
        "access_token": token.access,
        "token_type": "Bearer",
        "expires_in": max(0, int(left_s) - 1),
        "scope": " ".join(sorted(token.scopes)),
    }
    return {**shown, "refresh_token": token.refresh} if token.refresh else shown


def _client(world: World, request: Request) -> tuple[dict[str, str], App]:
    """Return what was asked, and who asks: in the form, or by HTTP's basic way."""
    kind = request.headers.get("content-type", "")
    if "application/x-www-form-urlencoded" not in kind:
        raise OAuthError("invalid_request", "The body must be form-urlencoded")
    asked = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
    name, secret = asked.get("client_id", ""), asked.get("client_secret", "")
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    if scheme == "Basic":
        try:
            name, _, secret = base64.b64decode(sent).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError) as problem:
            raise OAuthError("invalid_client", "Invalid client", 401) from problem
    app = world.apps.get(name)
    # With PKCE a program that cannot keep a secret needs none.
    needs_none = bool(asked.get("code_verifier")) and not secret
    if app is None or not (
        needs_none or hmac.compare_digest(secret, app.client_secret)
    ):
        raise OAuthError("invalid_client", "Invalid client credentials", 401)
    return asked, app


def _by_code(world: World, app: App, asked: Mapping[str, str]) -> Token:
    grant = world.grants.pop(asked.get("code", ""), None)
    if grant is None or grant.expires <= world.clock.now():
        raise OAuthError("invalid_grant", "Invalid or expired authorization code")
    if grant.client_id != app.client_id:
        raise OAuthError("invalid_grant", "The code is another application's")
    if asked.get("redirect_uri") != grant.redirect_uri:
        raise OAuthError("invalid_grant", "redirect_uri does not match")
    if challenge_of(asked.get("code_verifier", "")) != grant.challenge:
        raise OAuthError("invalid_grant", "code_verifier does not match")
    return give_token(world, app, world.get(User, grant.user), grant.scopes)


def challenge_of(verifier: str) -> str:
    """Return what PKCE sends ahead of a verifier; nothing for nothing."""
    if not verifier:
        return ""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _by_refresh(world: World, app: App, asked: Mapping[str, str]) -> Token:
    """Give a new pair; the old refresh token is worth nothing soon after."""
    sent, now = asked.get("refresh_token", ""), world.clock.now()
    for known in world.tokens:
        if not sent or known.refresh != sent or known.client_id != app.client_id:
            continue
        if known.revoked:
            break
        if known.replaced_by is not None:
            if known.replaced_at and now - known.replaced_at <= GRACE:
                return known.replaced_by
            break
        made = give_token(world, app, world.get(User, known.user), known.scopes)
        known.replaced_by, known.replaced_at = made, now
        return made
    raise OAuthError("invalid_grant", "Invalid refresh token")


def _by_credentials(world: World, app: App, asked: Mapping[str, str]) -> Token:
    """Give an app a token for itself, in its own workspace."""
    if not app.client_credentials:
        raise OAuthError("unauthorized_client", "Client credentials are not enabled")
    wanted = asked.get("scope", "").replace(",", " ").split()
    scopes = _allowed(frozenset(wanted) | {"read"}, is_app=True)
    user = app_user(world, app, app.workspace)
    return give_token(world, app, user, scopes, life=CLIENT_LIFE, with_refresh=False)


def _no_grant(_world: World, _app: App, _asked: Mapping[str, str]) -> Token:
    raise OAuthError("unsupported_grant_type", "Unknown grant_type")


_GRANTS = {
    "authorization_code": _by_code,
    "refresh_token": _by_refresh,
    "client_credentials": _by_credentials,
}


def revoke_endpoint(world: World, request: Request) -> Answer:
    """Take a token back, with the one that refreshes it."""
    sent: Any = request.headers.get("authorization", "").removeprefix("Bearer ")
    if request.body:
        asked = dict(parse_qsl(request.body.decode()))
        sent = asked.get("token") or asked.get("access_token") or sent
    for one in world.tokens:
        if sent and sent in (one.access, one.refresh) and not one.revoked:
            one.revoked = True
            return Answer(status=200, body={"success": True})
    return Answer(status=400, body={"error": "invalid_request"})


def _page(title: str, inner: str) -> str:
    return (
        f"<!doctype html><title>{escape(title)}</title><h1>{escape(title)}</h1>{inner}"
    )
