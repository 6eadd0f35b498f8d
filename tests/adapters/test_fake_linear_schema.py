"""The schema that the fake Linear knows is a part of Linear's own."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
)

from tests.fakes.linear.auth import Caller
from tests.fakes.linear.client import of_app
from tests.fakes.linear.contract import ContractError
from tests.fakes.linear.fake import FakeLinear
from tests.fakes.linear.graphql import schema
from tests.fakes.linear.limits import Buckets
from tests.fakes.linear.mutations import fields as mutations
from tests.fakes.linear.queries import Scope
from tests.fakes.linear.queries import fields as queries
from tests.fakes.linear.state import User

Inputs = Mapping[str, GraphQLInputField]
Outputs = Mapping[str, GraphQLField]


def differences(ours: GraphQLSchema, theirs: GraphQLSchema) -> Iterator[str]:
    """Say what is in our schema and not, or otherwise, in theirs."""
    for name, kind in ours.type_map.items():
        known = theirs.type_map.get(name)
        if type(known) is not type(kind) or known is None:
            yield name
        else:
            yield from _members(name, kind, known)


def _members(
    name: str, ours: GraphQLNamedType, theirs: GraphQLNamedType
) -> Iterator[str]:
    if isinstance(ours, GraphQLEnumType) and isinstance(theirs, GraphQLEnumType):
        yield from (f"{name}.{one}" for one in ours.values if one not in theirs.values)
    elif isinstance(ours, GraphQLUnionType) and isinstance(theirs, GraphQLUnionType):
        if {one.name for one in ours.types} != {one.name for one in theirs.types}:
            yield name
    elif isinstance(ours, GraphQLInputObjectType):
        known = theirs.fields if isinstance(theirs, GraphQLInputObjectType) else {}
        yield from _inputs(name, ours.fields, known)
    elif isinstance(ours, GraphQLObjectType) and isinstance(theirs, GraphQLObjectType):
        yield from _outputs(name, ours.fields, theirs.fields)


def _inputs(name: str, ours: Inputs, theirs: Inputs) -> Iterator[str]:
    for key, field in ours.items():
        if key not in theirs or str(theirs[key].type) != str(field.type):
            yield f"{name}.{key}"
    # What Linear cannot do without, the fake must ask for too.
    for key, field in theirs.items():
        if str(field.type).endswith("!") and key not in ours:
            yield f"{name}.{key} is missing"


def _outputs(name: str, ours: Outputs, theirs: Outputs) -> Iterator[str]:
    for key, field in ours.items():
        other = theirs.get(key)
        if other is None or str(other.type) != str(field.type):
            yield f"{name}.{key}"
        elif _arguments(field) != _arguments(other):
            yield f"{name}.{key}(…)"


def _arguments(field: GraphQLField) -> dict[str, str]:
    return {name: str(found.type) for name, found in field.args.items()}


def test_the_fakes_schema_is_a_part_of_linears(corpus: Path | None) -> None:
    if corpus is None:
        return
    theirs = build_schema((corpus / "linear" / "schema.graphql").read_text())
    assert list(differences(schema(), theirs)) == []


def test_a_difference_would_be_noticed() -> None:
    theirs = build_schema("type Query { a(b: Int): Int } enum E { x }")
    ours = build_schema("type Query { a: Int c: Int } enum E { x y }")
    assert list(differences(ours, theirs)) == ["Query.a(…)", "Query.c", "E.y"]


def test_each_field_of_the_schema_has_somebody_to_answer_it() -> None:
    with FakeLinear() as linear:
        caller = Caller(user=linear.world.get(User, linear.bot))
        scope = Scope(linear.world, caller, Buckets(linear.world.clock))
        known = schema()
        assert known.query_type is not None
        assert known.mutation_type is not None
        assert queries(scope).keys() == known.query_type.fields.keys()
        assert mutations(scope).keys() == known.mutation_type.fields.keys()


def test_whatever_the_schema_has_is_shown() -> None:
    """Each field of each kind of thing is asked for; none without null may be null."""
    with FakeLinear() as linear:
        ann = linear.add_user("ann", admin=True)
        linear.add_team("ENG")
        linear.add_project("Shop", "ENG")
        key = linear.create("ENG", ann, "Sum", "@patchwright fix it", labels=["Bug"])
        linear.comment(key, ann, "Off by one.")
        linear.relate(key, linear.create("ENG", ann, "Tax"))
        linear.sync(key, ann, "https://gitlab.com/acme/shop/-/issues/4")
        program = of_app(linear)
        for name in ("Issue", "Comment", "AgentSession", "Attachment", "IssueLabel"):
            many = f"{name[0].lower()}{name[1:]}s"
            inner = " ".join(_selections(name))
            reply = program.ask(f"{{ {many}(first: 9) {{ nodes {{ {inner} }} }} }}")
            assert not reply.errors, reply.errors
            assert reply.data[many]["nodes"], name
        for name in ("viewer", "organization"):
            kind = "User" if name == "viewer" else "Organization"
            inner = " ".join(_selections(kind))
            assert not program.ask(f"{{ {name} {{ {inner} }} }}").errors
        for name in ("Team", "WorkflowState"):
            many = f"{name[0].lower()}{name[1:]}s"
            inner = " ".join(_selections(name))
            reply = program.ask(f"{{ {many}(first: 9) {{ nodes {{ {inner} }} }} }}")
            assert not reply.errors, reply.errors


def _selections(name: str) -> Iterator[str]:
    """Yield each field of a type, of what leads elsewhere the id alone."""
    kind = schema().type_map[name]
    assert isinstance(kind, GraphQLObjectType)
    for field, found in kind.fields.items():
        bare = str(found.type).strip("[]!")
        inner = schema().type_map[bare]
        if bare.endswith("Connection"):
            yield f"{field}(first: 1) {{ nodes {{ id }} }}"
        elif isinstance(inner, GraphQLObjectType):
            member = "id" if "id" in inner.fields else next(iter(inner.fields))
            yield f"{field} {{ {member} }}"
        else:
            yield field


def test_a_document_that_linear_would_take_must_be_known_to_the_fake(
    corpus: Path | None,
) -> None:
    if corpus is None:
        return
    with pytest.raises(ContractError, match="Cannot query field 'statusEmoji'"):
        _ask_for_status()


def _ask_for_status() -> None:
    with FakeLinear() as linear:
        of_app(linear).ask("{ viewer { statusEmoji } }")
