"""Tell who sends a request: by their session, or by a token in its header."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from starlette.requests import HTTPConnection

from patchwright.core.system.clock import Clock
from patchwright.workers.accounts.directory import People
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.accounts.tokens import ApiTokenStore
from patchwright.workers.ops.endpoints import has_bearer_token
from patchwright.workers.web.rate_limit import RateLimit
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
    wrong_tokens: RateLimit | None = None

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
        address = request.client.host if request.client else ""
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
        RateLimit(clock, MAX_WRONG_TOKENS, WRONG_TOKENS_PERIOD),
    )
