"""The fake providers refuse what Anthropic and Gemini refuse."""

from typing import Any

import pytest

from tests.fakes.llm import anthropic_rules, gemini_rules

Json = dict[str, Any]

HI = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
THOUGHT = {"type": "thinking", "thinking": "hmm", "signature": "s"}
USE = {"type": "tool_use", "id": "tu_1", "name": "shell", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "tu_1", "content": "ok"}
TEXT = {"type": "text", "text": "x"}
PICTURE = {"type": "base64", "media_type": "image/png", "data": "QUJD"}


def said(role: str, *blocks: Json) -> Json:
    return {"role": role, "content": list(blocks)}


def anthropic(*messages: Json, thought: list[Json] | None = None, **fields: Any) -> str:
    request = {"max_tokens": 2000, "messages": list(messages), **fields}
    return anthropic_rules.find_fault(request, thought or []) or ""


def test_anthropic_takes_a_good_request() -> None:
    turn = said("assistant", THOUGHT, TEXT, USE)
    image = said("user", {"type": "image", "source": PICTURE}, TEXT)
    results = said("user", RESULT, TEXT)
    assert anthropic(image, turn, results, thought=[THOUGHT]) == ""


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [said("assistant", TEXT)],
        [HI, HI],
        [HI, said("assistant", USE)],
        [HI, said("assistant", USE), said("user", TEXT)],
        [HI, said("assistant", USE), said("user", TEXT, RESULT)],
        [HI, said("assistant", USE, USE), said("user", RESULT, RESULT)],
        [HI, *[said("assistant", USE), said("user", RESULT)] * 2],
        [said("user", RESULT)],
        [said("user", {"type": "text", "text": " "})],
        [said("user", USE)],
        [HI, said("assistant", {**USE, "id": "a.b"})],
        [HI, said("assistant", {**USE, "input": "{}"})],
        [HI, said("assistant", {"type": "thinking", "thinking": "unsigned"})],
        [said("user", {"type": "image", "source": {**PICTURE, "data": "!"}})],
        [said("user", {"type": "image", "source": {**PICTURE, "media_type": "x/y"}})],
        [said("user", {"type": "text", "text": "half \ud83d"})],
    ],
)
def test_anthropic_refuses_a_bad_history(messages: list[Json]) -> None:
    assert anthropic(*messages)


@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": None},
        {"thinking": {"budget_tokens": 2000}},
        {"thinking": {"budget_tokens": 1024}, "temperature": 0.5},
        {"tools": [{"name": "a b", "input_schema": {"type": "object"}}]},
        {"tools": [{"name": "a", "input_schema": {}}]},
        {"system": [{"cache_control": {}}] * 5},
    ],
)
def test_anthropic_refuses_bad_limits_and_tools(fields: Json) -> None:
    assert anthropic(HI, **fields)


def test_s61_anthropic_refuses_a_missing_thought() -> None:
    turn, results = said("assistant", USE), said("user", RESULT)
    assert "must not change" in anthropic(HI, turn, results, thought=[THOUGHT])
    told = anthropic(HI, turn, results, thinking={"budget_tokens": 1024})
    assert "found `tool_use`" in told


CALL = {"functionCall": {"name": "shell", "args": {}}}
ANSWER = {"functionResponse": {"name": "shell", "response": {"content": "ok"}}}
SIGNED = {**CALL, "thoughtSignature": "s"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def parts(role: str, *given: Json) -> Json:
    return {"role": role, "parts": list(given)}


WORDS = parts("user", {"text": "hi"})


def gemini(*contents: Json, signatures: frozenset[str] = frozenset()) -> str:
    return gemini_rules.find_fault({"contents": list(contents)}, signatures) or ""


def declared(schema: Json, name: str = "shell") -> Json:
    tool = {"functionDeclarations": [{"name": name, "parameters": schema}]}
    return {"contents": [WORDS], "tools": [tool]}


def test_gemini_takes_a_good_request() -> None:
    turn, results = parts("model", SIGNED, CALL), parts("user", ANSWER, ANSWER)
    assert gemini(WORDS, turn, results, signatures=frozenset("s")) == ""
    assert gemini_rules.find_fault(declared(SCHEMA), frozenset()) is None


@pytest.mark.parametrize(
    "contents",
    [
        [],
        [parts("model", {"text": "hi"})],
        [parts("system", {"text": "hi"})],
        [WORDS, parts("assistant", {"text": "hi"})],
        [WORDS, parts("model")],
        [WORDS, parts("model", {"txt": "hi"})],
        [WORDS, parts("model", {"text": "hi", **CALL})],
        [WORDS, parts("model", CALL)],
        [WORDS, parts("model", CALL, CALL), parts("user", ANSWER)],
        [WORDS, parts("model", CALL), WORDS],
        [parts("user", ANSWER)],
        [parts("user", CALL), parts("user", ANSWER)],
        [WORDS, parts("model", {"functionCall": {"name": "a", "args": "{}"}})],
        [WORDS, parts("model", SIGNED), parts("user", ANSWER)],
        [parts("user", {"text": "half \ud83d"})],
    ],
)
def test_gemini_refuses_a_bad_history(contents: list[Json]) -> None:
    assert gemini(*contents)


def test_gemini_takes_a_struct_for_a_result_and_no_text() -> None:
    text = {"functionResponse": {"name": "shell", "response": "ok"}}
    assert "Struct" in gemini(WORDS, parts("model", CALL), parts("user", text))


def test_s61_gemini_refuses_only_a_missing_signature_of_the_current_turn() -> None:
    turn, results = parts("model", CALL), parts("user", ANSWER)
    known = frozenset("s")
    assert "missing a thought_signature" in gemini(
        WORDS, turn, results, signatures=known
    )
    assert gemini(WORDS, turn, results, WORDS, signatures=known) == ""


@pytest.mark.parametrize(
    "schema",
    [
        {**SCHEMA, "additionalProperties": False},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
        {"type": "object", "properties": {"a": {"type": "integer", "enum": [1]}}},
    ],
)
def test_gemini_takes_a_part_of_json_schema(schema: Json) -> None:
    assert gemini_rules.find_fault(declared(schema), frozenset())


def test_gemini_knows_its_fields_and_names() -> None:
    assert gemini_rules.find_fault({"contents": [WORDS], "model": "x"}, frozenset())
    assert gemini_rules.find_fault(declared(SCHEMA, "1st"), frozenset())
