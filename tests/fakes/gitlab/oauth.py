"""The pages and endpoints through which an application learns who somebody is.

https://docs.gitlab.com/api/oauth2/
"""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from html import escape
from urllib.parse import parse_qsl, urlencode

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.github.server import Wire, json_bytes
from tests.fakes.gitlab.acts.accounts import mint_token
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.sign_in_state import Approval, Client, Renewal
from tests.fakes.gitlab.state import TokenKind, World

AUTHORIZE = "/oauth/authorize"
TOKEN = "/oauth/token"
REVOKE = "/oauth/revoke"
INFO = "/oauth/token/info"
PATHS = frozenset({AUTHORIZE, TOKEN, REVOKE, INFO})
CODE_LIFE = timedelta(minutes=10)
TOKEN_LIFE = timedelta(hours=2)
GRANT_ERROR = (
    "The provided authorization grant is invalid, expired, revoked, does not match the "
    "redirection URI used in the authorization request, or was issued to another "
    "client."
)
CLIENT_ERROR = (
    "Client authentication failed due to unknown client, no client authentication "
    "included, or unsupported authentication method."
)


def serve(world: World, request: Request) -> Wire:
    """Answer one of `PATHS`; somebody at the browser presses the button at once."""
    with world.lock:
        match (request.method, request.path):
            case ("GET", "/oauth/authorize"):
                return _authorize(world, request.query)
            case ("POST", "/oauth/authorize"):
                return _press(world, _form(request))
            case ("POST", "/oauth/token"):
                return _json(_token(world, _form(request)))
            case ("POST", "/oauth/revoke"):
                return _json(_revoke(world, _form(request)))
            case ("GET", "/oauth/token/info"):
                return _json(_info(world, request))
            case _:
                return _json(_error(404, "not_found", "Not Found"))


def add_client(
    world: World, redirect_uris: tuple[str, ...], scopes: tuple[str, ...]
) -> Client:
    """Register an application, as an administrator of the server or a group does."""
    client = Client(
        client_id=secrets.token_hex(32),
        client_secret=f"gloas-{secrets.token_hex(32)}",
        name="Patchwright",
        redirect_uris=redirect_uris,
        scopes=scopes,
    )
    world.sign_ins.clients[client.client_id] = client
    return client


def revoke_grants(world: World, username: str) -> None:
    """Let a person take back, in their settings, what they let applications do."""
    with world.lock:
        user = world.user(username).id
        for value, renewal in list(world.sign_ins.renewals.items()):
            if renewal.user == user:
                del world.sign_ins.renewals[value]
                _end(world, renewal.access_token)


def _authorize(world: World, query: Mapping[str, str]) -> Wire:
    """Show who asks for what; the form that is pressed goes to the same address."""
    client = world.sign_ins.clients.get(query.get("client_id", ""))
    problem = _complaint(client, query)
    if problem or client is None:
        return _page(401, "An error has occurred", f"<p>{escape(problem)}</p>")
    fields = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in query.items()
    )
    name = world.sign_ins.at_the_browser
    text = (
        f"<p>{escape(client.name)} wants to use the account of {escape(name)}: "
        f"{escape(query.get('scope', ''))}.</p>"
        f'<form method="post" action="{world.base_url}{AUTHORIZE}">{fields}'
        '<button name="commit" value="Authorize">Authorize</button> '
        '<button name="commit" value="Deny">Deny</button></form>'
    )
    return _page(200, f"Authorize {client.name}", text)


def _press(world: World, form: Mapping[str, str]) -> Wire:
    client = world.sign_ins.clients.get(form.get("client_id", ""))
    problem = _complaint(client, form)
    if problem or client is None:
        return _page(401, "An error has occurred", f"<p>{escape(problem)}</p>")
    state = {"state": form["state"]} if "state" in form else {}
    uri = form["redirect_uri"]
    person = world.find_user(world.sign_ins.at_the_browser)
    if form.get("commit") == "Deny" or person is None:
        text = "The resource owner or authorization server denied the request."
        sent = {"error": "access_denied", "error_description": text}
        return _redirect(uri, {**sent, **state})
    code = secrets.token_hex(32)
    world.sign_ins.approvals[code] = Approval(
        client_id=client.client_id,
        user=person.id,
        redirect_uri=uri,
        challenge=form.get("code_challenge", ""),
        scopes=tuple(form.get("scope", "").split()),
        expires_at=world.clock.now() + CODE_LIFE,
    )
    return _redirect(uri, {"code": code, **state})


def _complaint(client: Client | None, asked: Mapping[str, str]) -> str:
    if client is None:
        return CLIENT_ERROR
    if asked.get("redirect_uri") not in client.redirect_uris:
        return "The redirect URI included is not valid."
    if asked.get("response_type") != "code":
        return "The authorization server does not support this response type."
    if not set(asked.get("scope", "").split()) <= set(client.scopes):
        return "The requested scope is invalid, unknown, or malformed."
    if asked.get("code_challenge") and asked.get("code_challenge_method") != "S256":
        return "The code challenge method must be S256."
    return ""


def _token(world: World, form: Mapping[str, str]) -> Answer:
    client = world.sign_ins.clients.get(form.get("client_id", ""))
    if client is None or client.client_secret != form.get("client_secret"):
        return _error(401, "invalid_client", CLIENT_ERROR)
    match form.get("grant_type"):
        case "authorization_code":
            return _exchange(world, client, form)
        case "refresh_token":
            return _renew(world, client, form)
        case _:
            text = "The authorization grant type is not supported by the server."
            return _error(400, "unsupported_grant_type", text)


def _exchange(world: World, client: Client, form: Mapping[str, str]) -> Answer:
    approval = world.sign_ins.approvals.pop(form.get("code", ""), None)
    if (
        approval is None
        or approval.client_id != client.client_id
        or approval.redirect_uri != form.get("redirect_uri")
        or approval.expires_at <= world.clock.now()
        or (approval.challenge and approval.challenge != _digest(form))
    ):
        return _error(400, "invalid_grant", GRANT_ERROR)
    return _mint(world, client, approval.user, approval.scopes)


def _renew(world: World, client: Client, form: Mapping[str, str]) -> Answer:
    """Give new tokens for a refresh token, which counts once and ends the old ones."""
    renewal = world.sign_ins.renewals.pop(form.get("refresh_token", ""), None)
    if renewal is None or renewal.client_id != client.client_id:
        return _error(400, "invalid_grant", GRANT_ERROR)
    _end(world, renewal.access_token)
    return _mint(world, client, renewal.user, renewal.scopes)


def _mint(world: World, client: Client, user: int, scopes: tuple[str, ...]) -> Answer:
    now = world.clock.now()
    token = mint_token(
        world, world.users[user], scopes=scopes, kind=TokenKind.OAUTH, name=client.name
    )
    world.tokens[token.value] = replace(
        token, expires_on=None, expires_at=now + TOKEN_LIFE
    )
    refresh_token = secrets.token_hex(32)
    world.sign_ins.renewals[refresh_token] = Renewal(
        client_id=client.client_id,
        user=user,
        access_token=token.value,
        scopes=scopes,
    )
    body = {
        "access_token": token.value,
        "token_type": "Bearer",
        "expires_in": int(TOKEN_LIFE.total_seconds()),
        "refresh_token": refresh_token,
        "scope": " ".join(scopes),
        "created_at": int(now.timestamp()),
    }
    return Answer(status=200, body=body)


def _revoke(world: World, form: Mapping[str, str]) -> Answer:
    client = world.sign_ins.clients.get(form.get("client_id", ""))
    if client is None or client.client_secret != form.get("client_secret"):
        text = "You are not authorized to revoke this token"
        return _error(403, "unauthorized_client", text)
    value = form.get("token", "")
    renewal = world.sign_ins.renewals.pop(value, None)
    _end(world, renewal.access_token if renewal else value)
    return Answer(status=200, body={})


def _info(world: World, request: Request) -> Answer:
    value = request.headers.get("authorization", "").partition(" ")[2]
    token = world.tokens.get(value)
    if token is None or token.revoked or token.expires_at is None:
        text = "The access token is invalid"
        return _error(401, "invalid_token", text)
    left = int((token.expires_at - world.clock.now()).total_seconds())
    body = {
        "resource_owner_id": token.user,
        "scope": list(token.scopes),
        "expires_in": left,
        "created_at": int(token.created_at.timestamp()),
    }
    return Answer(status=200, body=body)


def _end(world: World, value: str) -> None:
    if (token := world.tokens.get(value)) is not None:
        world.tokens[value] = replace(token, revoked=True)


def _digest(form: Mapping[str, str]) -> str:
    digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _error(status: int, name: str, text: str) -> Answer:
    body: Json = {"error": name, "error_description": text}
    return Answer(status=status, body=body)


def _form(request: Request) -> dict[str, str]:
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        return {name: str(value) for name, value in request.json().items()}
    return dict(parse_qsl(request.body.decode(), keep_blank_values=True))


def _json(answer: Answer) -> Wire:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    return Wire(answer.status, headers, json_bytes(answer.body))


def _page(status: int, heading: str, html: str) -> Wire:
    headers = {"Content-Type": "text/html; charset=utf-8"}
    title = escape(heading)
    page = f"<!doctype html><title>{title}</title><h1>{title}</h1>{html}"
    return Wire(status, headers, page.encode())


def _redirect(address: str, answer: Mapping[str, str]) -> Wire:
    sign = "&" if "?" in address else "?"
    return Wire(302, {"Location": f"{address}{sign}{urlencode(answer)}"}, b"")
