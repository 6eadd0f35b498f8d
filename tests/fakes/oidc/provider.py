"""An OpenID provider as a server: people sign in on its page, and it signs its word.

It refuses what a real one refuses: unknown clients and addresses, codes that were used,
a wrong secret or verifier, and a sign-in without a challenge.
"""

import base64
import hashlib
import html
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from patchwright.core.system.clock import Clock
from tests.adapters.web.browser import serving

LIFE_S = 300
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


@dataclass
class Person:
    username: str
    password: str = "secret"
    email: str = ""
    email_verified: bool = True
    groups: list[str] = field(default_factory=list)

    @property
    def subject(self) -> str:
        return f"sub-{self.username}"

    @property
    def claims(self) -> dict[str, Any]:
        found = {"preferred_username": self.username, "groups": self.groups}
        if not self.email:
            return found
        return {**found, "email": self.email, "email_verified": self.email_verified}


@dataclass
class Client:
    client_id: str
    client_secret: str
    redirect_uris: list[str]
    backchannel_logout_uri: str = ""
    post_logout_redirect_uris: list[str] = field(default_factory=list)


@dataclass
class _Grant:
    client_id: str
    redirect_uri: str
    challenge: str
    nonce: str
    username: str
    sid: str


@dataclass
class SigningKey:
    kid: str
    private: rsa.RSAPrivateKey

    @classmethod
    def new(cls) -> "SigningKey":
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        return cls(secrets.token_hex(4), private)

    def as_jwk(self) -> dict[str, Any]:
        text = jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key())
        return {**json.loads(text), "kid": self.kid, "use": "sig", "alg": "RS256"}

    def public_pem(self) -> bytes:
        public = self.private.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@cache
def _first_key() -> SigningKey:
    """Return what each provider begins with; kept, because making one is slow."""
    return SigningKey.new()


@dataclass
class FakeOidc:
    """`forge_token` stands in for how it signs: what it returns is the ID token.

    One that is terse tells who people are at its userinfo endpoint alone.
    """

    clock: Clock
    url: str = ""
    key: SigningKey = field(default_factory=_first_key)
    people: dict[str, Person] = field(default_factory=dict)
    clients: dict[str, Client] = field(default_factory=dict)
    grants: dict[str, _Grant] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    access_tokens: dict[str, str] = field(default_factory=dict)
    change_claims: Callable[[dict[str, Any]], None] = lambda _claims: None
    change_userinfo: Callable[[dict[str, Any]], None] = lambda _claims: None
    forge_token: Callable[[dict[str, Any]], str] | None = None
    is_terse: bool = False
    # All, where there are none.
    scopes: set[str] = field(default_factory=set)
    challenge_methods: list[str] = field(default_factory=lambda: ["S256"])
    calls_itself: str = ""
    is_down: bool = False

    def add_person(self, username: str, **facts: Any) -> Person:
        self.people[username] = Person(username, **facts)
        return self.people[username]

    def sign(self, claims: Mapping[str, Any], key: SigningKey | None = None) -> str:
        used = key or self.key
        return jwt.encode(
            dict(claims), used.private, "RS256", headers={"kid": used.kid}
        )

    def now_s(self) -> int:
        return int(self.clock.now().timestamp())

    def id_token(self, grant: _Grant) -> str:
        person = self.people[grant.username]
        claims: dict[str, Any] = {
            "iss": self.url,
            "sub": person.subject,
            "aud": grant.client_id,
            "iat": self.now_s(),
            "exp": self.now_s() + LIFE_S,
            "nonce": grant.nonce,
            "sid": grant.sid,
        }
        if not self.is_terse:
            claims |= person.claims
        self.change_claims(claims)
        return self.forge_token(claims) if self.forge_token else self.sign(claims)

    def logout_claims(self, client_id: str, **others: Any) -> dict[str, Any]:
        return {
            "iss": self.url,
            "aud": client_id,
            "iat": self.now_s(),
            "exp": self.now_s() + 120,
            "jti": secrets.token_hex(8),
            "events": {LOGOUT_EVENT: {}},
            **others,
        }

    def tell_logout(self, sid: str, subject: str) -> list[int]:
        """Tell each client; return what they answered."""
        answers = []
        for client in self.clients.values():
            if client.backchannel_logout_uri:
                claims = self.logout_claims(client.client_id, sid=sid, sub=subject)
                token = {"logout_token": self.sign(claims)}
                told = httpx.post(client.backchannel_logout_uri, data=token, timeout=10)
                answers.append(told.status_code)
        return answers


@contextmanager
def providing(clock: Clock) -> Iterator[FakeOidc]:
    provider = FakeOidc(clock)

    def make(url: str) -> FastAPI:
        provider.url = url
        return _app(provider)

    with serving(make):
        yield provider


def _app(provider: FakeOidc) -> FastAPI:
    app = FastAPI()
    _add_facts(app, provider)
    _add_sign_in(app, provider)
    _add_tokens(app, provider)
    _add_sign_out(app, provider)
    return app


def _add_facts(app: FastAPI, provider: FakeOidc) -> None:
    @app.get("/.well-known/openid-configuration")
    def metadata() -> Response:
        if provider.is_down:
            return Response(status_code=503)
        url = provider.url
        facts = {
            "issuer": provider.calls_itself or url,
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "jwks_uri": f"{url}/jwks",
            "userinfo_endpoint": f"{url}/userinfo",
            "end_session_endpoint": f"{url}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": provider.challenge_methods,
            "backchannel_logout_supported": True,
        }
        return JSONResponse(facts)

    @app.get("/jwks")
    def jwks() -> Response:
        return JSONResponse({"keys": [provider.key.as_jwk()]})


def _add_sign_in(app: FastAPI, provider: FakeOidc) -> None:
    @app.get("/authorize")
    def authorize(request: Request) -> Response:
        query = dict(request.query_params)
        problem = _problem(provider, query)
        if problem:
            return HTMLResponse(html.escape(problem), 400)
        unknown = set(query["scope"].split()) - provider.scopes
        if provider.scopes and unknown:
            refusal = {"error": "invalid_scope", "error_description": " ".join(unknown)}
            back = {**refusal, "state": query["state"]}
            return RedirectResponse(f"{query['redirect_uri']}?{urlencode(back)}", 303)
        sid = request.cookies.get("sso", "")
        if sid in provider.sessions:
            return _send_back(provider, query, provider.sessions[sid], sid)
        return _login_page(query)

    @app.post("/login")
    async def login(request: Request) -> Response:
        form = {k: v[0] for k, v in parse_qs((await request.body()).decode()).items()}
        person = provider.people.get(form.get("username", ""))
        query = json.loads(form["query"])
        if _problem(provider, query):
            return HTMLResponse("not a sign-in", 400)
        if person is None or person.password != form.get("password"):
            return _login_page(query, "Wrong name or password")
        sid = secrets.token_hex(8)
        provider.sessions[sid] = person.username
        response = _send_back(provider, query, person.username, sid)
        response.set_cookie("sso", sid, httponly=True)
        return response


def _add_tokens(app: FastAPI, provider: FakeOidc) -> None:
    @app.post("/token")
    async def token(request: Request) -> Response:
        form = {k: v[0] for k, v in parse_qs((await request.body()).decode()).items()}
        client = _authenticated(provider, request, form)
        if client is None:
            return JSONResponse({"error": "invalid_client"}, 401)
        # A code works once, also where it is refused.
        grant = provider.grants.pop(form.get("code", ""), None)
        if (
            form.get("grant_type") != "authorization_code"
            or grant is None
            or grant.client_id != client.client_id
            or grant.redirect_uri != form.get("redirect_uri")
            or grant.challenge != challenge(form.get("code_verifier", ""))
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        access = secrets.token_hex(16)
        provider.access_tokens[access] = grant.username
        answer = {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": LIFE_S,
            "id_token": provider.id_token(grant),
        }
        return JSONResponse(answer)

    @app.get("/userinfo")
    def userinfo(request: Request) -> Response:
        _, _, held = request.headers.get("authorization", "").partition(" ")
        username = provider.access_tokens.get(held)
        if username is None:
            return JSONResponse({"error": "invalid_token"}, 401)
        person = provider.people[username]
        claims = {"sub": person.subject, **person.claims}
        provider.change_userinfo(claims)
        return JSONResponse(claims)


def _add_sign_out(app: FastAPI, provider: FakeOidc) -> None:
    @app.get("/logout")
    def logout(request: Request) -> Response:
        client = provider.clients.get(request.query_params.get("client_id", ""))
        back = request.query_params.get("post_logout_redirect_uri", "")
        if client is None or back not in client.post_logout_redirect_uris:
            return HTMLResponse("not a known address to go back to", 400)
        sid = request.cookies.get("sso", "")
        username = provider.sessions.pop(sid, None)
        if username is not None:
            provider.tell_logout(sid, provider.people[username].subject)
        return RedirectResponse(back, 303)


def _problem(provider: FakeOidc, query: Mapping[str, str]) -> str:
    client = provider.clients.get(query.get("client_id", ""))
    if client is None or query.get("redirect_uri") not in client.redirect_uris:
        return "unknown client, or an address that it does not have"
    if query.get("response_type") != "code":
        return "only the code flow is supported"
    if "openid" not in query.get("scope", "").split():
        return "the scope openid is missing"
    if query.get("code_challenge_method") != "S256" or not query.get("code_challenge"):
        return "a challenge is missing"
    if not query.get("nonce") or not query.get("state"):
        return "nonce or state is missing"
    return ""


def _login_page(query: Mapping[str, str], problem: str = "") -> Response:
    held = html.escape(json.dumps(dict(query)), quote=True)
    return HTMLResponse(
        "<!doctype html><title>Acme sign-in</title><main><h1>Acme sign-in</h1>"
        f"<p>{problem}</p><form method=post action=/login>"
        f'<input type=hidden name=query value="{held}">'
        "<label>Name <input name=username></label>"
        "<label>Password <input name=password type=password></label>"
        "<button>Sign in</button></form></main>"
    )


def _send_back(
    provider: FakeOidc, query: Mapping[str, str], username: str, sid: str
) -> Response:
    code = secrets.token_hex(16)
    provider.grants[code] = _Grant(
        client_id=query["client_id"],
        redirect_uri=query["redirect_uri"],
        challenge=query["code_challenge"],
        nonce=query["nonce"],
        username=username,
        sid=sid,
    )
    back = {"code": code, "state": query["state"], "iss": provider.url}
    return RedirectResponse(f"{query['redirect_uri']}?{urlencode(back)}", 303)


def _authenticated(
    provider: FakeOidc, request: Request, form: Mapping[str, str]
) -> Client | None:
    scheme, _, held = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    name, _, secret = base64.b64decode(held).decode().partition(":")
    client = provider.clients.get(name)
    is_right = client is not None and client.client_secret == secret
    return client if is_right and form.get("client_id", name) == name else None


def challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
