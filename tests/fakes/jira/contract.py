"""Hold what the fake hears and says against Atlassian's own descriptions."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jsonschema import ValidationError
from openapi_schema_validator import OAS30Validator
from referencing import Registry
from referencing.jsonschema import DRAFT4

from tests.fakes.github.exchange import Answer
from tests.fakes.jira.exchange import Call, Route
from tests.provision.environment import corpus

Json = dict[str, Any]
DESCRIPTION = "urn:jira:openapi"
_JSON = ("content", "application/json", "schema")
_NAMES = {"{key}": "{issueIdOrKey}"}
# Of its two ends a link shows the other one alone, in the examples too.
_ENDS = ("'inwardIssue' is a required", "'outwardIssue' is a required")
# Whatever a field did not have is null there, as in every recorded history.
_CHANGE = re.compile(r"\$\.changelog\.histories\[\d+\]\.items\[\d+\]\.\w+")


class ContractError(AssertionError):
    """The fake, or who spoke to it, left Jira's description."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    route: Route
    version: str
    sent: Any
    answer: Answer


@dataclass
class Contract:
    """What went well over the wire, to be judged when nobody waits for an answer.

    A data center speaks version 2 as the cloud does, as far as both are described.
    """

    exchanges: list[Exchange] = field(default_factory=list)

    def note(self, route: Route, call: Call, answer: Answer) -> None:
        sent = json.loads(call.request.body) if call.request.body else None
        self.exchanges.append(
            Exchange(route=route, version=call.version, sent=sent, answer=answer)
        )

    def check(self) -> None:
        if found := list(self.errors()):
            raise ContractError("\n".join(found))

    def errors(self) -> Iterator[str]:
        for exchange in self.exchanges:
            described = _described(exchange.version)
            if described is not None:
                yield from described.errors(exchange)


class Description:
    def __init__(self, raw: Json) -> None:
        self._raw = raw
        resource = DRAFT4.create_resource(raw)
        self._registry: Registry[Any] = Registry().with_resource(DESCRIPTION, resource)

    def errors(self, exchange: Exchange) -> Iterator[str]:
        """Say what is wrong; what Atlassian's cut does not describe is passed over."""
        route, answer = exchange.route, exchange.answer
        path = f"/rest/api/{exchange.version}/{route.template}"
        for ours, theirs in _NAMES.items():
            path = path.replace(ours, theirs)
        operation = ("paths", path, route.method.lower())
        title = f"{route.method} {path}"
        sent = (*operation, "requestBody", *_JSON)
        if self._find(sent) is not None:
            yield from self._mismatches(f"{title}, the request", sent, exchange.sent)
        said = (*operation, "responses", str(answer.status))
        if self._find(operation) is not None and self._find(said) is None:
            yield f"{title}: no answer {answer.status} is described"
        if self._find((*said, *_JSON)) is not None:
            yield from self._mismatches(title, (*said, *_JSON), answer.body)

    def _mismatches(
        self, title: str, address: tuple[str, ...], value: object
    ) -> Iterator[str]:
        for error in self._validator(address).iter_errors(value):
            if not _is_known(error):
                yield f"{title}: {error.json_path}: {error.message[:300]}"

    def _validator(self, address: tuple[str, ...]) -> OAS30Validator:
        steps = (step.replace("~", "~0").replace("/", "~1") for step in address)
        pointer = "/".join(s.replace("{", "%7B").replace("}", "%7D") for s in steps)
        schema = {"$ref": f"{DESCRIPTION}#/{pointer}"}
        return OAS30Validator(schema, registry=self._registry)

    def _find(self, address: tuple[str, ...]) -> Any:
        found: Any = self._raw
        for step in address:
            if step not in found:
                return None
            found = found[step]
        return found


def _is_known(error: ValidationError) -> bool:
    """Tell whether the description is narrower than Jira itself."""
    if error.instance is None and _CHANGE.fullmatch(error.json_path):
        return True
    return any(end in error.message for end in _ENDS)


@cache
def _described(version: str) -> Description | None:
    folder = corpus()
    if folder is None:
        return None
    raw = (folder / "jira" / f"openapi-v{version}.json").read_bytes()
    return Description(json.loads(raw))
