"""What a server lists is looked through before a model sees it."""

from typing import Any

import pytest
from pydantic import JsonValue

from patchwright.core.mcp import (
    MAX_TOOLS,
    ListedTool,
    SchemaError,
    make_tool_offer,
    read_tool_schema,
)

EMPTY: dict[str, JsonValue] = {"type": "object"}


def listed(name: str, **fields: Any) -> ListedTool:
    return ListedTool.model_validate({"name": name, "parameters": EMPTY, **fields})


def test_all_tools_are_offered_unless_some_are_named() -> None:
    tools = [listed("a"), listed("b")]
    assert [t.name for t in make_tool_offer("s", tools, ()).tools] == ["s__a", "s__b"]
    chosen = make_tool_offer("s", tools, ["b"])
    assert [t.name for t in chosen.tools] == ["s__b"]
    assert chosen.originals == {"s__b": "b"}
    assert chosen.faults == ()


def test_a_tool_that_is_named_and_missing_is_told() -> None:
    assert make_tool_offer("s", [listed("b"), listed("a")], ["c"]).faults == (
        "it has no tool 'c'; it has: 'a', 'b'",
    )


def test_a_tool_listed_twice_counts_once() -> None:
    offer = make_tool_offer("s", [listed("a", description="1"), listed("a")], ())
    assert [tool.description for tool in offer.tools] == ["1"]
    assert offer.faults == ("it lists 'a' twice; the first one counts",)


def test_more_tools_than_a_model_can_survey_are_cut() -> None:
    offer = make_tool_offer("s", [listed(f"t{n}") for n in range(MAX_TOOLS + 1)], ())
    assert len(offer.tools) == MAX_TOOLS
    [fault] = offer.faults
    assert fault == (
        "it has 65 tools, and the first 64 are offered; name the useful ones in `tools`"
    )


def test_a_description_is_bounded_and_shows_all_it_says() -> None:
    hidden = "Adds.\u200b\U000e0041 " + "x" * 5000
    [tool] = make_tool_offer("s", [listed("a", description=hidden)], ()).tools
    assert tool.description.startswith("Adds. xxx")
    assert len(tool.description) <= 1024


def test_a_bad_schema_leaves_only_its_own_tool_out() -> None:
    bad = listed("bad", parameters={"type": "array"})
    offer = make_tool_offer("s", [bad, listed("good")], ())
    assert [tool.name for tool in offer.tools] == ["s__good"]
    assert offer.faults == (
        "its tool 'bad' is left out: its parameters are not an object",
    )


def test_a_schema_is_made_whole() -> None:
    assert read_tool_schema({}) == {"type": "object", "properties": {}}


def test_a_schema_keeps_all_but_its_dialect_and_what_nobody_sees() -> None:
    schema: dict[str, JsonValue] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"a": {"type": "string", "description": "go\u200b on"}},
        "required": ["a"],
    }
    assert read_tool_schema(schema) == {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "go on"}},
        "required": ["a"],
    }


def nested(depth: int) -> dict[str, JsonValue]:
    value: dict[str, JsonValue] = {}
    for _ in range(depth):
        value = {"items": value}
    return value


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "string"}, "not an object"),
        ({"type": "object", "properties": []}, "properties are not an object"),
        ({"type": "object", "description": "x" * 20_000}, "20000 may be"),
        (nested(25), "nested more than 24 deep"),
        (nested(900), "nested more than 24 deep"),
    ],
)
def test_a_schema_that_no_model_takes_is_refused(
    schema: dict[str, JsonValue], why: str
) -> None:
    with pytest.raises(SchemaError, match=why):
        read_tool_schema(schema)
