"""Who calls, whom they know, and what server this is."""

from dataclasses import replace

from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.auth import has_expired
from tests.fakes.gitlab.call import Call, Route, paged
from tests.fakes.gitlab.exchange import Json, not_found, unauthorized
from tests.fakes.gitlab.render.users import (
    full_user_json,
    moment,
    own_user_json,
    user_json,
)
from tests.fakes.gitlab.state import Token, TokenKind, World


def get_user(call: Call) -> Answer:
    return Answer(status=200, body=own_user_json(call.world, call.user()))


def list_users(call: Call) -> Answer:
    """Find people by their exact name, or by a part of it."""
    if call.caller.user is None and "username" not in call.request.query:
        raise unauthorized()
    found = list(call.world.users.values())
    if (name := call.request.query.get("username")) is not None:
        found = [one for one in found if one.username.lower() == name.lower()]
    if (part := call.request.query.get("search")) is not None:
        found = [
            one for one in found if part.lower() in (one.username + one.name).lower()
        ]
    return paged(call, [user_json(call.world, one) for one in found])


def get_one_user(call: Call) -> Answer:
    user = call.world.users.get(call.number("user_id"))
    if user is None:
        raise not_found("User Not Found")
    shown = full_user_json(call.world, user)
    if call.caller.user is not None and call.caller.user.is_admin:
        # Nobody else is told. https://docs.gitlab.com/api/users/#as-an-administrator
        shown |= {"is_admin": user.is_admin, "external": user.is_external}
    return Answer(status=200, body=shown)


def get_own_token(call: Call) -> Answer:
    """Tell what is known of the token itself, which any scope may ask for.

    https://docs.gitlab.com/api/personal_access_tokens/
    """
    call.user()
    token = call.caller.token
    if token is None or token.kind is TokenKind.OAUTH:
        raise unauthorized()
    return Answer(status=200, body=_token_json(call.world, token))


def revoke_own_token(call: Call) -> Answer:
    call.user()
    token = call.caller.token
    if token is None or token.kind is TokenKind.OAUTH:
        raise unauthorized()
    call.world.tokens[token.value] = replace(token, revoked=True)
    return Answer(status=204)


def get_version(call: Call) -> Answer:
    call.user()
    return Answer(
        status=200, body={"version": call.world.version, "revision": "b01f7a9d2c4"}
    )


def get_metadata(call: Call) -> Answer:
    call.user()
    body = {
        "version": call.world.version,
        "revision": "b01f7a9d2c4",
        "kas": {"enabled": False, "externalUrl": None, "version": None},
        "enterprise": call.world.version.endswith("-ee"),
    }
    return Answer(status=200, body=body)


def _token_json(world: World, token: Token) -> Json:
    return {
        "id": token.id,
        "name": token.name,
        "revoked": token.revoked,
        "created_at": moment(token.created_at),
        "description": None,
        "scopes": list(token.scopes),
        "user_id": token.user,
        "last_used_at": moment(world.clock.now()),
        "active": not token.revoked and not has_expired(world, token),
        "expires_at": token.expires_on.isoformat() if token.expires_on else None,
    }


ROUTES = (
    Route("GET", "/user", get_user),
    Route("GET", "/users", list_users),
    Route("GET", "/users/{user_id}", get_one_user),
    Route("GET", "/personal_access_tokens/self", get_own_token),
    Route("DELETE", "/personal_access_tokens/self", revoke_own_token),
    Route("GET", "/version", get_version),
    Route("GET", "/metadata", get_metadata),
)
