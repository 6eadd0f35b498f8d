"""A JSON schema of what an agent hands over: read, shown and held against values."""

import json

import pytest

from patchwright.core.agent.results import MAX_CHARS, read_schema
from patchwright.core.types.errors import SettingsError

NESTED = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.test/findings",
    "type": "object",
    "required": ["findings"],
    "additionalProperties": False,
    "properties": {
        "findings": {"type": "array", "items": {"$ref": "#/$defs/Finding"}},
    },
    "$defs": {
        "Finding": {
            "type": "object",
            "required": ["line"],
            "properties": {"line": {"type": "integer"}},
        }
    },
}


def test_a_model_is_shown_it_without_references() -> None:
    shown = read_schema(json.dumps(NESTED)).shown
    assert shown == {
        "type": "object",
        "required": ["findings"],
        "additionalProperties": False,
        "properties": {
            "findings": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["line"],
                    "properties": {"line": {"type": "integer"}},
                },
            }
        },
    }


def test_what_does_not_fit_is_told_with_its_place() -> None:
    schema = read_schema(json.dumps(NESTED))
    assert schema.faults({"findings": [{"line": 3}]}) == ()
    assert schema.faults({"findings": [{"line": "3"}]}) == (
        "$.findings[0].line: '3' is not of type 'integer'",
    )
    assert schema.faults(None) == ("$: None is not of type 'object'",)


def test_a_long_list_of_faults_and_long_values_are_cut() -> None:
    schema = read_schema('{"type": "array", "items": {"type": "integer"}}')
    faults = schema.faults(["x" * 1_000] * 20)
    assert len(faults) == 5
    assert all(len(fault) < 400 for fault in faults)


def test_one_that_leads_back_to_itself_is_held_all_the_same() -> None:
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": False,
    }
    schema = read_schema(json.dumps(tree))
    assert schema.faults({"children": [{"children": []}]}) == ()
    assert schema.faults({"children": [{"name": 1}]}) != ()


def test_a_circle_without_an_end_is_a_fault_and_no_crash() -> None:
    schema = read_schema('{"$ref": "#"}')
    assert "nested too deeply" in schema.faults(1)[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is not JSON"),
        ("[]", "it must be a JSON object"),
        ('{"type": "objekt"}', "'objekt' is not valid"),
        ('{"$ref": "https://example.test/x.json"}', "leads to no place in it"),
        ('{"$ref": "file:///etc/passwd"}', "leads to no place in it"),
        ('{"$ref": "other.json"}', "leads to no place in it"),
        ('{"$ref": "#/$defs/Gone"}', "leads to no place in it"),
        ('{"properties": {"a": {"$id": "b"}}}', "'$id' is not understood"),
        (f'{{"title": "{"x" * MAX_CHARS}"}}', "it is longer than"),
        ("[" * 100_000, "it is not JSON"),
    ],
)
def test_what_is_no_schema_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(SettingsError, match="schema of the result") as error:
        read_schema(text)
    assert why in str(error.value)


def test_one_that_would_be_endless_when_shown_is_refused() -> None:
    levels = {
        f"L{n}": {"allOf": [{"$ref": f"#/$defs/L{n + 1}"}] * 4} for n in range(12)
    }
    schema = {"$ref": "#/$defs/L0", "$defs": {**levels, "L12": {"type": "string"}}}
    with pytest.raises(SettingsError, match="more than 5000 parts"):
        read_schema(json.dumps(schema))
