"""Find out who is calling, from the Authorization header."""

import base64
import binascii
from dataclasses import dataclass
from enum import StrEnum

import jwt
from jwt.types import Options

from tests.fakes.github.exchange import RefusedError
from tests.fakes.github.state import App, Token, TokenKind, User, World

MAX_ASSERTION_S = 600


class CallerKind(StrEnum):
    """How somebody showed who they are; the words in the request log."""

    ANONYMOUS = "none"
    PERSONAL = "personal"
    INSTALLATION = "installation"
    ACTIONS = "actions"
    APP = "app"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Caller:
    kind: CallerKind
    user: User | None = None
    token: Token | None = None
    app: App | None = None


ANONYMOUS = Caller(kind=CallerKind.ANONYMOUS)


def bad_credentials() -> RefusedError:
    return RefusedError(401, "Bad credentials")


def identify(world: World, authorization: str | None) -> Caller:
    """Return the caller of the REST API; raise a 401 where the credential is bad."""
    if authorization is None:
        return ANONYMOUS
    scheme, _, value = authorization.partition(" ")
    match scheme.lower():
        case "basic":
            return _with_token(world, password_of(value))
        case "token" | "bearer" if value.count(".") == 2:
            return _with_assertion(world, value)
        case "token" | "bearer":
            return _with_token(world, value)
        case _:
            raise bad_credentials()


def identify_git(world: World, authorization: str | None) -> Caller:
    """Return the caller of git over HTTP, which knows Basic alone."""
    if authorization is None:
        return ANONYMOUS
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() != "basic":
        raise bad_credentials()
    return _with_token(world, password_of(value))


def password_of(credentials: str) -> str:
    """Return the secret half of Basic credentials; any user name goes with a token."""
    try:
        decoded = base64.b64decode(credentials, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as problem:
        raise bad_credentials() from problem
    return decoded.partition(":")[2]


def _with_token(world: World, value: str) -> Caller:
    token = world.tokens.get(value)
    if token is None or _has_expired(world, token):
        raise bad_credentials()
    return Caller(
        kind=_kind_of(token),
        user=world.user(token.owner),
        token=token,
        app=None if token.app_id is None else world.apps[token.app_id],
    )


def _has_expired(world: World, token: Token) -> bool:
    return token.expires_at is not None and token.expires_at <= world.clock.now()


def _kind_of(token: Token) -> CallerKind:
    match token.kind:
        case TokenKind.PERSONAL:
            return CallerKind.PERSONAL
        case TokenKind.INSTALLATION:
            return CallerKind.INSTALLATION
        case TokenKind.ACTIONS:
            return CallerKind.ACTIONS


def _with_assertion(world: World, value: str) -> Caller:
    """Check the JSON web token an App signs for itself.

    https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
    """
    app = _issuer(world, value)
    # The times are judged below, by the world's own clock.
    unchecked: Options = {
        "verify_exp": False,
        "verify_iat": False,
        "verify_nbf": False,
    }
    try:
        claims = jwt.decode(value, app.public_key, ["RS256"], options=unchecked)
    except jwt.InvalidTokenError as problem:
        raise _undecodable() from problem
    _check_times(claims.get("iat"), claims.get("exp"), world.clock.now().timestamp())
    return Caller(kind=CallerKind.APP, app=app, user=world.user(app.bot_login))


def _issuer(world: World, value: str) -> App:
    try:
        claims = jwt.decode(value, options={"verify_signature": False})
        return world.apps[int(claims["iss"])]
    except (jwt.InvalidTokenError, KeyError, TypeError, ValueError) as problem:
        raise _undecodable() from problem


def _check_times(issued: object, expires: object, now: float) -> None:
    if not isinstance(issued, int) or issued > now:
        raise RefusedError(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time "
            "that the assertion was issued",
        )
    if not isinstance(expires, int) or expires <= now:
        raise RefusedError(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing "
            "the future time at which the assertion expires",
        )
    if expires > now + MAX_ASSERTION_S:
        raise RefusedError(
            401, "'Expiration time' claim ('exp') is too far in the future"
        )


def _undecodable() -> RefusedError:
    return RefusedError(401, "A JSON web token could not be decoded")
