"""A request and its answer, apart from the socket they came over."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

DOCS = "https://docs.github.com/rest"


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request; header names are in lower case, `path` is without the API's prefix."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def any_json(self) -> Any:
        """Return what the body says; raise a refusal where it is no JSON."""
        try:
            return json.loads(self.body or b"{}")
        except ValueError as problem:
            raise RefusedError(400, "Problems parsing JSON") from problem

    def json(self) -> Json:
        """Return the body's object; raise a refusal where it isn't one."""
        parsed = self.any_json()
        if not isinstance(parsed, dict):
            raise RefusedError(400, "Body should be a JSON object")
        return parsed


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusedError(Exception):
    """GitHub says no; `errors` are the single complaints of a 422."""

    def __init__(
        self, status: int, message: str, errors: list[Json] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors

    def answer(self) -> Answer:
        body: Json = {
            "message": self.message,
            "documentation_url": DOCS,
            "status": str(self.status),
        }
        if self.errors is not None:
            body["errors"] = self.errors
        return Answer(status=self.status, body=body)


def not_found() -> RefusedError:
    return RefusedError(404, "Not Found")


def invalid(resource: str, code: str, **facts: str) -> RefusedError:
    """Make a 422 of one complaint; `facts` are its `field` and `message`, if any."""
    error: Json = {"resource": resource, "code": code, **facts}
    return RefusedError(422, "Validation Failed", [error])
