"""REST: accounts, and what is left of the rate limit."""

from tests.fakes.github.auth import CallerKind
from tests.fakes.github.call import Call, Route
from tests.fakes.github.exchange import Answer, RefusedError, not_found
from tests.fakes.github.render.users import profile_json

HOURLY_LIMIT = 5000


def show_self(call: Call) -> Answer:
    if call.caller.kind is CallerKind.APP:
        raise RefusedError(401, "A JSON web token could not be decoded")
    user = call.user()
    if call.caller.kind is not CallerKind.PERSONAL:
        raise RefusedError(403, "Resource not accessible by integration")
    body = profile_json(call.world, user)
    return Answer(status=200, body=body, headers=_about_token(call))


def show_user(call: Call) -> Answer:
    user = call.world.users.get(call.args["username"].lower())
    if user is None:
        raise not_found()
    return Answer(status=200, body=profile_json(call.world, user))


def show_rate_limit(call: Call) -> Answer:
    now = int(call.world.clock.now().timestamp())
    rate = {
        "limit": HOURLY_LIMIT,
        "used": 0,
        "remaining": HOURLY_LIMIT,
        "reset": now + 3600,
    }
    resources = {"core": rate, "search": rate, "graphql": rate}
    body = {"resources": resources, "rate": rate}
    return Answer(status=200, body=body, headers=_about_token(call))


def _about_token(call: Call) -> dict[str, str]:
    """Return what GitHub tells of a token with every answer."""
    token = call.caller.token
    if call.caller.kind is not CallerKind.PERSONAL or token is None:
        return {}
    scopes = call.world.registry.scopes.get(token.value)
    told = {} if scopes is None else {"X-OAuth-Scopes": scopes}
    if token.expires_at is not None:
        ends_at = f"{token.expires_at:%Y-%m-%d %H:%M:%S} UTC"
        told["GitHub-Authentication-Token-Expiration"] = ends_at
    return told


ROUTES = (
    Route("GET", "/user", show_self),
    Route("GET", "/users/{username}", show_user),
    Route("GET", "/rate_limit", show_rate_limit),
)
