"""Hold what the fake receives and answers against GitHub's own OpenAPI description."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from referencing import Registry
from referencing.jsonschema import DRAFT4

from tests.fakes.github.exchange import Answer, Json, Request
from tests.fakes.github.routing import Handled

if TYPE_CHECKING:
    from openapi_schema_validator import OAS30Validator

DESCRIPTION = "urn:github:openapi"
JSON_CONTENT = ("content", "application/json", "schema")
ERROR = ("components", "schemas", "basic-error")


# Requests that GitHub takes in a form it no longer describes: labels as a bare list.
OTHER_FORMS = {("POST", "/repos/{owner}/{repo}/issues/{issue_number}/labels")}


class ContractError(AssertionError):
    """The fake, or who spoke to it, left GitHub's description."""


def corpus_folder() -> Path | None:
    """Return the folder of outside test data, where the machine has one."""
    # No setting of the product: it says where payloads of others lie.
    named = os.environ.get("PATCHWRIGHT_CORPUS")  # noqa: TID251 - as said above
    return Path(named) if named else None


class Contract:
    """GitHub's OpenAPI description; validators are made once for each schema."""

    def __init__(self, description: Json) -> None:
        _let_null_in(description)
        self._description = description
        resource = DRAFT4.create_resource(description)
        self._registry: Registry[Any] = Registry().with_resource(DESCRIPTION, resource)
        self._validators: dict[tuple[str, ...], OAS30Validator] = {}

    @classmethod
    def from_file(cls, path: Path) -> Self:
        return cls(json.loads(path.read_bytes()))

    @staticmethod
    def from_corpus() -> "Contract | None":
        """Return the corpus's description, read once; None where there is none."""
        folder = corpus_folder()
        return None if folder is None else _read(folder / "github" / "openapi.json")

    def errors(self, template: str, request: Request, answer: Answer) -> Iterator[str]:
        """Say what is wrong with one exchange; `template` is the path it matched.

        A request that was refused may be as wrong as it likes.
        """
        address = ("paths", template, request.method.lower())
        title = f"{request.method} {template}"
        if self._find(address) is None:
            yield f"{title}: GitHub describes no such operation"
            return
        if answer.status < 400 and (request.method, template) not in OTHER_FORMS:
            yield from self._request_errors(f"{title}, the request", address, request)
        yield from self._answer_errors(f"{title}, {answer.status}", address, answer)

    def _request_errors(
        self, title: str, address: tuple[str, ...], request: Request
    ) -> Iterator[str]:
        content = (*address, "requestBody", *JSON_CONTENT)
        if self._find(content) is not None:
            yield from self._mismatches(title, content, request.any_json())

    def _answer_errors(
        self, title: str, address: tuple[str, ...], answer: Answer
    ) -> Iterator[str]:
        described = (*address, "responses", str(answer.status))
        if self._find(described) is None:
            if answer.status < 400:
                yield f"{title}: GitHub describes no such answer"
            else:
                yield from self._mismatches(title, ERROR, answer.body)
            return
        content = (*self._follow(described), *JSON_CONTENT)
        if self._find(content) is not None:
            yield from self._mismatches(title, content, answer.body)
        elif answer.status >= 400:
            # A refusal has words, also where the description names the status alone.
            yield from self._mismatches(title, ERROR, answer.body)
        elif answer.body is not None:
            yield f"{title}: GitHub answers without a body"

    def _mismatches(
        self, title: str, address: tuple[str, ...], value: object
    ) -> Iterator[str]:
        for error in self._validator(address).iter_errors(value):
            yield f"{title}: {error.json_path}: {error.message[:300]}"

    def _validator(self, address: tuple[str, ...]) -> "OAS30Validator":
        if address not in self._validators:
            # The demo, which checks nothing, goes without it.
            from tests.fakes.github.remembering import (  # noqa: PLC0415 - as said above
                RememberingValidator,
                oas30_format_checker,
            )

            steps = (step.replace("~", "~0").replace("/", "~1") for step in address)
            pointer = "/".join(_escape(step) for step in steps)
            self._validators[address] = RememberingValidator(
                {"$ref": f"{DESCRIPTION}#/{pointer}"},
                registry=self._registry,
                format_checker=oas30_format_checker,
            )
        return self._validators[address]

    def _follow(self, address: tuple[str, ...]) -> tuple[str, ...]:
        """Return where the thing itself is described, not a reference to it."""
        reference = self._find((*address, "$ref"))
        return tuple(reference.split("/")[1:]) if reference else address

    def _find(self, address: tuple[str, ...]) -> Any:
        found: Any = self._description
        for step in address:
            if step not in found:
                return None
            found = found[step]
        return found


@dataclass
class Journal:
    """Every exchange, kept to be judged later, when nobody waits for an answer."""

    contract: Contract | None
    _unread: list[tuple[str, Request, Answer]] = field(default_factory=list)
    _errors: list[str] = field(default_factory=list)

    def note(self, request: Request, handled: Handled) -> None:
        if self.contract is not None and handled.route is not None:
            exchange = (handled.route.template, request, handled.answer)
            self._unread.append(exchange)

    def errors(self) -> list[str]:
        while self.contract is not None and self._unread:
            self._errors += self.contract.errors(*self._unread.pop(0))
        return list(self._errors)

    def check(self) -> None:
        """Raise if anything was said that GitHub's description doesn't allow."""
        if errors := self.errors():
            raise ContractError("\n".join(errors))


def _let_null_in(node: Any) -> None:
    """Make `nullable` mean beside `enum` and `oneOf` what GitHub means by it.

    OpenAPI 3.0.3 reads it beside `type` alone; GitHub answers null there all the same.
    A `discriminator` goes, as `oneOf` says the same.
    """
    if isinstance(node, list):
        for part in node:
            _let_null_in(part)
    if not isinstance(node, dict):
        return
    # It says by which property of an object to choose, also where a list may come.
    if "propertyName" in node.get("discriminator", {}):
        del node["discriminator"]
    if node.get("nullable") is True:
        for choice in ("enum", "oneOf", "anyOf"):
            if isinstance(node.get(choice), list):
                node[choice].append(None if choice == "enum" else {"enum": [None]})
    _let_account_be_one(node)
    for part in node.values():
        _let_null_in(part)


def _let_account_be_one(node: Json) -> None:
    """Let the account of an installation be a user or an enterprise.

    The list of installations describes it as both at once, against its own example.
    """
    parts = node.get("allOf")
    titles = {part.get("title") for part in parts} if isinstance(parts, list) else set()
    if titles == {"Simple User", "Enterprise"}:
        node["anyOf"] = node.pop("allOf")


@cache
def _read(path: Path) -> Contract:
    return Contract.from_file(path)


def _escape(step: str) -> str:
    return step.replace("{", "%7B").replace("}", "%7D")
