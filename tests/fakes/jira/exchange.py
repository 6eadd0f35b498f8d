"""Jira's way to say no, and what an endpoint is."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.jira.state import User, World

Json = dict[str, Any]


class RefusedError(Exception):
    """Jira says no: as a whole, or of single fields."""

    def __init__(self, status: int, *general: str, **fields: str) -> None:
        super().__init__(status, general, fields)
        self.status, self.general, self.fields = status, general, fields

    def answer(self) -> Answer:
        body = {"errorMessages": list(self.general), "errors": self.fields}
        return Answer(status=self.status, body=body)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request to the API, with who asks and the parts of its path."""

    world: World
    caller: User
    request: Request
    version: str
    args: dict[str, str] = field(default_factory=dict)

    def json(self) -> Json:
        try:
            found = json.loads(self.request.body or b"{}")
        except ValueError as problem:
            raise RefusedError(400, "There was an error parsing JSON.") from problem
        if not isinstance(found, dict):
            raise RefusedError(400, "Can not deserialize instance of a map.")
        return found

    def number(self, name: str, default: int) -> int:
        return int(self.request.query.get(name, default))

    @property
    def expand(self) -> set[str]:
        return set(self.request.query.get("expand", "").split(","))


@dataclass(frozen=True)
class Route:
    """`template` is a path below `/rest/api/VERSION`."""

    method: str
    template: str
    endpoint: Callable[[Call], Answer]


def not_found() -> RefusedError:
    words = "Issue does not exist or you do not have permission to see it."
    return RefusedError(404, words)
