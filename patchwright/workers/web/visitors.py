"""Tell who sends a request: by their session, or by a token in its header."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, TypeAlias

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from patchwright.core.system.clock import Clock
from patchwright.workers.accounts.directory import People
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.accounts.tokens import TOKEN_PREFIX, ApiTokenStore
from patchwright.workers.ops.endpoints import has_bearer_token
from patchwright.workers.web.rate_limit import AttemptLimit, address_of
from patchwright.workers.web.session_cookie import SessionCookie

MAX_WRONG_TOKENS: Final = 20
WRONG_TOKENS_PERIOD: Final = timedelta(minutes=15)
_BEARER: Final = "bearer"

FindPrincipal = Callable[[HTTPConnection], Principal | None]


def nobody(_request: HTTPConnection) -> None:
    """Tell that nobody is signed in where nobody can be."""


def no_token(_word: str) -> None:
    """Tell that there is no such token where there can be none."""


@dataclass(frozen=True)
class Visitors:
    """Recognizes people by what their requests carry.

    `find_signed_in` tells who is signed in in that browser, and `find_token` whose API
    token a word is. Without an `admin_token` no bearer is the administrator. An address
    that tries many wrong tokens has to wait: `wrong_tokens` counts them.
    """

    find_signed_in: FindPrincipal
    admin_token: str
    find_token: Callable[[str], Principal | None] = no_token
    wrong_tokens: AttemptLimit | None = None

    def find(self, request: HTTPConnection) -> Principal | None:
        """Return who it is, or None; may take a while, as the database may.

        Who shows a token is not taken for who is signed in in that browser.
        """
        held = request.headers.get("authorization", "")
        scheme, _, word = held.partition(" ")
        if scheme.lower() == _BEARER:
            return self._find_bearer(request, held, word.strip())
        return self.find_signed_in(request)

    def _find_bearer(
        self, request: HTTPConnection, held: str, word: str
    ) -> Principal | None:
        address = address_of(request)
        limit = self.wrong_tokens
        if limit is not None and not limit.has_room(address):
            return None
        if has_bearer_token(held, self.admin_token):
            by = SignedInBy.ADMIN_TOKEN
            return Principal(name="", role=Role.ADMIN, signed_in_by=by)
        found = self.find_token(word)
        if found is None and limit is not None:
            limit.take(address)
        return found


def make_visitors(
    people: People,
    cookie: SessionCookie,
    tokens: ApiTokenStore,
    admin_token: str,
    clock: Clock,
) -> Visitors:
    """Return what recognizes the people of this installation."""

    def find_signed_in(request: HTTPConnection) -> Principal | None:
        session = cookie.find(request)
        account = people.find(session.account_id) if session else None
        return people.principal(account, SignedInBy.SESSION) if account else None

    def find_token(word: str) -> Principal | None:
        token = tokens.find(word)
        account = people.find(token.account_id) if token else None
        if token is None or account is None:
            return None
        return people.principal(account, SignedInBy.API_TOKEN, token.scope.role)

    return Visitors(
        find_signed_in,
        admin_token,
        find_token,
        AttemptLimit(clock, MAX_WRONG_TOKENS, WRONG_TOKENS_PERIOD),
    )


_NEEDLE: Final = TOKEN_PREFIX.encode()
# Two bytes that are written as `%XX` would hide it.
_ENCODED: Final = _NEEDLE.replace(b"_", b"%5f")
# https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1: against the rules of the service
_POLICY_VIOLATION: Final = 1008
_WORDS: Final = (
    "An API token never belongs in an address. Revoke it on the page of your account, "
    "make a new one, and send it in the header Authorization: Bearer."
)

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_App: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]


class TokenAddressRefusal:
    """Answers a request with a token in its address, before anything else sees it.

    Addresses are in histories, logs and referrers.
    """

    def __init__(self, app: _App) -> None:
        self._app = app

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        if not _has_token(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            problem = {
                "type": "about:blank",
                "title": "Token in the address",
                "status": 400,
                "detail": _WORDS,
            }
            answer = JSONResponse(problem, 400, media_type="application/problem+json")
            await answer(scope, receive, send)


def _has_token(scope: _Message) -> bool:
    query: bytes = scope.get("query_string", b"").lower()
    return _NEEDLE in query or _ENCODED in query
