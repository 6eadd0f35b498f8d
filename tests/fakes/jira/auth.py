"""Tell who asks, and answer those who cannot say."""

import base64
import binascii
from collections.abc import Callable

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.jira.state import User, World

# https://developer.atlassian.com/server/jira/platform/jira-rest-api-example-basic-authentication-6291732/
FAILED = {"X-Seraph-LoginReason": "AUTHENTICATED_FAILED"}


def identify(world: World, request: Request) -> User | None:
    """Return the user, or None for whoever is not known.

    The cloud wants an e-mail address with a token, a data center a token alone, or a
    name with a password.
    """
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    if kind == "Bearer" and not world.is_cloud:
        return _find(world, lambda user: user.token == sent)
    if kind != "Basic":
        return None
    try:
        name, _, token = base64.b64decode(sent).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return _find(
        world,
        lambda user: (
            user.token == token and name == (user.email if world.is_cloud else user.id)
        ),
    )


def refuse(world: World) -> Answer:
    """Answer in JSON in the cloud, with a page for people in a data center."""
    if world.is_cloud:
        words = "Client must be authenticated to access this resource."
        return Answer(status=401, body={"message": words, "status-code": 401})
    return Answer(status=401, body=LOGIN_PAGE, headers=FAILED)


LOGIN_PAGE = "<html><head><title>Unauthorized (401)</title></head></html>"


def _find(world: World, fits: Callable[[User], bool]) -> User | None:
    return next(filter(fits, world.users.values()), None)
