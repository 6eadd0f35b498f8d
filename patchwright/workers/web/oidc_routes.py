"""Signing in with an OpenID provider, and being told by it that somebody left."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from patchwright.core.plugin import AUTH_PATH
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor
from patchwright.integrations.oidc.claims import OIDC, Claims, IdentityProvider
from patchwright.workers.accounts.directory import People, ProvenPerson
from patchwright.workers.accounts.sessions import SessionStore
from patchwright.workers.store.audit import AuditAction, AuditLog
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.rate_limit import AttemptLimit, address_of
from patchwright.workers.web.sign_in import SignInWay, make_attempts

BACKCHANNEL_PATH: Final = f"{AUTH_PATH}/{OIDC}/backchannel-logout"
_MAX_BODY_BYTES: Final = 64 * 1024
_BY_PROVIDER: Final = "the provider"
_NO_STORE: Final = {"Cache-Control": "no-store"}

log = structlog.get_logger(__name__)


def make_oidc_way(
    provider: IdentityProvider, settings: Settings, secret: bytes, clock: Clock
) -> SignInWay:
    oidc, public_url = settings.oidc, settings.server.public_url

    def fetch(code: str, verifier: str) -> ProvenPerson:
        claims = provider.fetch_claims(code, verifier)
        return _proven(claims, provider.issuer, oidc.admin_group)

    return SignInWay(
        name=OIDC,
        title=oidc.name,
        attempts=make_attempts(
            OIDC,
            secret,
            clock,
            secure=public_url.startswith("https:"),
            prefix=urlsplit(public_url).path,
        ),
        address=provider.address,
        fetch=fetch,
        sign_out_address=provider.end_session_address,
        issuer=provider.issuer,
    )


def _proven(claims: Claims, issuer: str, admin_group: str) -> ProvenPerson:
    """Return somebody; without the claim nobody is in the group of the admins."""
    person = Actor(service=OIDC, login=claims.name, external_id=claims.subject)
    is_admin = admin_group in (claims.groups or ()) if admin_group else None
    return ProvenPerson(
        person=person,
        host=issuer,
        email=claims.email,
        provider_sid=claims.provider_sid,
        is_admin=is_admin,
    )


@dataclass(frozen=True)
class BackchannelLogout:
    """Ends sessions where the provider says so, in a token that it has signed.

    https://openid.net/specs/openid-connect-backchannel-1_0.html
    """

    provider: IdentityProvider
    people: People
    sessions: SessionStore
    audit: AuditLog
    limit: AttemptLimit

    def add_to(self, app: FastAPI) -> None:
        app.post(BACKCHANNEL_PATH, include_in_schema=False)(self._receive)

    async def _receive(self, request: Request) -> Response:
        """End the sessions of somebody who signed out at the provider."""
        try:
            body = await read_body(request, _MAX_BODY_BYTES)
        except BodyTooLargeError:
            return _refuse("the logout token is too long", 413)
        fields = parse_qs(body.decode("utf-8", "replace"))
        token = fields.get("logout_token", [""])[0]
        client = address_of(request)
        return await run_in_threadpool(self._end, token, client)

    def _end(self, token: str, client: str) -> Response:
        if not self.limit.has_room(client):
            return _refuse("too many wrong logout tokens", 429)
        try:
            found = self.provider.read_logout(token)
        except ServiceError as error:
            self.limit.take(client)
            log.warning("logout_refused", reason=error.reason, error=str(error))
            return _refuse(str(error), 400)
        if not self.sessions.use_logout_token(found.id, found.until):
            log.warning("logout_refused", reason="replayed")
            return _refuse("the logout token was already used", 400)
        account = (
            self.people.find_by_identity(OIDC, self.provider.issuer, found.subject)
            if found.subject
            else None
        )
        if found.subject and account is None:
            # Somebody who never came here.
            return Response(status_code=200, headers=_NO_STORE)
        if self.sessions.end_at_provider(OIDC, account, found.provider_sid):
            self.audit.note(
                AuditAction.SESSIONS_ENDED,
                by=_BY_PROVIDER,
                account_id=account or "",
                about=f"account:{account}" if account else "",
            )
        return Response(status_code=200, headers=_NO_STORE)


def _refuse(words: str, status: int) -> Response:
    body = {"error": "invalid_request", "error_description": words}
    return JSONResponse(body, status, _NO_STORE)
