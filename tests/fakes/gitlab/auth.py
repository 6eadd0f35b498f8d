"""Find out who is calling, from the headers."""

import base64
import binascii
from dataclasses import dataclass

from tests.fakes.github.exchange import Request
from tests.fakes.gitlab.exchange import (
    RefusedError,
    bad_token,
    insufficient_scope,
    unauthorized,
)
from tests.fakes.gitlab.state import Token, User, World

READS = frozenset({"GET", "HEAD"})
EXPIRED = "Token is expired. You can either do re-authorization or token refresh."
REVOKED = "Token was revoked. You have to re-authorize from the user."


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who calls; nobody where no credential was shown."""

    user: User | None = None
    token: Token | None = None

    @property
    def word(self) -> str:
        """Say how they showed who they are, as the log of requests does."""
        return "none" if self.token is None else self.token.kind.value


ANONYMOUS = Caller()


def identify(world: World, request: Request) -> Caller:
    """Return the caller of the API; raise a 401 where the credential is bad.

    https://docs.gitlab.com/api/rest/authentication/
    """
    value = request.headers.get("private-token")
    authorization = request.headers.get("authorization")
    if value is None and authorization is not None:
        scheme, _, value = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise unauthorized()
    if value is None:
        return ANONYMOUS
    return _with_token(world, value)


def identify_git(world: World, request: Request) -> Caller:
    """Return the caller of git over HTTP, which knows Basic alone."""
    authorization = request.headers.get("authorization")
    if authorization is None:
        return ANONYMOUS
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() != "basic":
        raise unauthorized()
    return _with_token(world, _password_of(value))


def check_scope(caller: Caller, method: str, path: str) -> None:
    """Raise a 403 where the token was not made for this.

    https://docs.gitlab.com/user/profile/personal_access_tokens/
    """
    if caller.token is None:
        return
    scopes = set(caller.token.scopes)
    if "api" in scopes or (method in READS and "read_api" in scopes):
        return
    if path == "/personal_access_tokens/self":
        return
    if method in READS and path.startswith("/user") and "read_user" in scopes:
        return
    raise insufficient_scope("api" if method not in READS else "api read_api")


def may_use_git(caller: Caller, *, pushes: bool) -> bool:
    scopes = set(caller.token.scopes) if caller.token else set()
    enough = {"api", "write_repository"} | (set() if pushes else {"read_repository"})
    return bool(scopes & enough)


def _with_token(world: World, value: str) -> Caller:
    token = world.tokens.get(value)
    if token is None:
        raise unauthorized()
    if token.revoked:
        raise bad_token(REVOKED)
    if has_expired(world, token):
        raise bad_token(EXPIRED)
    user = world.users[token.user]
    if user.state != "active":
        raise RefusedError(
            403, {"message": "403 Forbidden - Your account has been blocked."}
        )
    return Caller(user=user, token=token)


def has_expired(world: World, token: Token) -> bool:
    """Tokens of people end with a day, those of applications at a moment."""
    now = world.clock.now()
    on_day = token.expires_on is not None and token.expires_on <= now.date()
    return on_day or (token.expires_at is not None and token.expires_at <= now)


def _password_of(credentials: str) -> str:
    """Return the secret half of Basic credentials; any user name goes with a token."""
    try:
        decoded = base64.b64decode(credentials, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as problem:
        raise unauthorized() from problem
    return decoded.partition(":")[2]
