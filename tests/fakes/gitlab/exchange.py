"""How GitLab says no: the shapes of its refusals."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.github.exchange import Answer

Json = dict[str, Any]


class RefusedError(Exception):
    """GitLab says no, with this body."""

    def __init__(
        self, status: int, body: Json, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(str(body))
        self.status = status
        self.body = body
        self.headers = headers or {}

    def answer(self) -> Answer:
        return Answer(status=self.status, body=self.body, headers=self.headers)


def refused(status: int, message: object) -> RefusedError:
    """Refuse as the endpoints do; a text gets its status in front, as there."""
    text = f"{status} {message}" if isinstance(message, str) else message
    return RefusedError(status, {"message": text})


def invalid(**complaints: str) -> RefusedError:
    """Refuse values that a record may not have, by the name of the field."""
    return refused(400, {name: [text] for name, text in complaints.items()})


def missing(name: str) -> RefusedError:
    """Refuse a call that leaves out what it must have."""
    return RefusedError(400, {"error": f"{name} is missing"})


def unauthorized() -> RefusedError:
    return refused(401, "Unauthorized")


def forbidden(reason: str = "Forbidden") -> RefusedError:
    return refused(403, reason)


def not_found(what: str = "Not found") -> RefusedError:
    """Refuse what is not there, or not for the one who asks."""
    return refused(404, what)


def insufficient_scope(needed: str) -> RefusedError:
    return RefusedError(
        403,
        {
            "error": "insufficient_scope",
            "error_description": "The request requires higher privileges than "
            "provided by the access token.",
            "scope": needed,
        },
    )


def bad_token(description: str) -> RefusedError:
    return RefusedError(
        401, {"error": "invalid_token", "error_description": description}
    )
