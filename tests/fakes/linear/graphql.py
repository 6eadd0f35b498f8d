"""Execute documents of GraphQL, as far as the fake knows the schema."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.linear import auth, mutations, queries, sessions
from tests.fakes.linear.contract import Contract
from tests.fakes.linear.exchange import Json, RefusedError
from tests.fakes.linear.limits import Buckets, weigh
from tests.fakes.linear.state import World

OWN_SCHEMA = Path(__file__).with_name("schema.graphql")


@cache
def schema() -> GraphQLSchema:
    return build_schema(OWN_SCHEMA.read_text(encoding="utf-8"))


@dataclass(kw_only=True)
class GraphQL:
    """The one endpoint of the API."""

    world: World
    contract: Contract
    buckets: Buckets = field(init=False)

    def __post_init__(self) -> None:
        self.buckets = Buckets(self.world.clock)

    def respond(self, request: Request) -> Answer:
        """Answer a request; the caller holds the world's lock."""
        try:
            caller = auth.identify(self.world, request)
        except RefusedError as refusal:
            return _refused(refusal, {})
        try:
            return self._answer(caller, request)
        except RefusedError as refusal:
            return _refused(refusal, self.buckets.headers(caller.name))

    def _answer(self, caller: auth.Caller, request: Request) -> Answer:
        asked = request.json()
        variables = asked.get("variables") or {}
        document = self._read(asked)
        headers = self.buckets.take(caller.name, weigh(document, variables))
        sessions.age(self.world)
        scope = queries.Scope(self.world, caller, self.buckets)
        result = execute_sync(
            schema(),
            document,
            root_value={**queries.fields(scope), **mutations.fields(scope)},
            variable_values=variables,
            operation_name=asked.get("operationName"),
        )
        return Answer(status=_status(result), body=_shown(result), headers=headers)

    def _read(self, asked: Json) -> DocumentNode:
        try:
            document = parse(str(asked.get("query", "")))
        except GraphQLError as problem:
            raise _unreadable(problem, "GRAPHQL_PARSE_FAILED") from problem
        problems = validate(schema(), document)
        self.contract.note_document(document, problems)
        if problems:
            raise _unreadable(problems[0], "GRAPHQL_VALIDATION_FAILED")
        return document


def _refused(refusal: RefusedError, headers: dict[str, str]) -> Answer:
    return Answer(status=refusal.status, body=refusal.body(), headers=headers)


def _unreadable(problem: GraphQLError, code: str) -> RefusedError:
    return RefusedError(problem.message, code=code, kind="graphql error")


def _status(result: ExecutionResult) -> int:
    """Return 200 for what was begun, whatever errors came of it.

    https://linear.app/developers/graphql#errors
    """
    is_begun = result.data is not None or any(one.path for one in result.errors or ())
    return 200 if is_begun else 400


def _shown(result: ExecutionResult) -> Json:
    shown: Json = {"data": result.data}
    if result.errors:
        shown["errors"] = [_shown_error(one) for one in result.errors]
        for one in result.errors:
            _raise_own_fault(one.original_error)
    return shown


def _shown_error(error: GraphQLError) -> Any:
    formatted: Json = dict(error.formatted)
    if not error.extensions:
        refusal = RefusedError(error.message, code="BAD_USER_INPUT")
        formatted["extensions"] = refusal.extensions
    return formatted


def _raise_own_fault(problem: Exception | None) -> None:
    """Whatever no caller is to blame for is a mistake in the fake."""
    if problem is not None and not isinstance(problem, RefusedError | GraphQLError):
        raise problem
