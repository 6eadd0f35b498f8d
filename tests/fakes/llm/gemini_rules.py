"""What Gemini refuses, before its model reads a word.

https://ai.google.dev/api/generate-content and https://ai.google.dev/api/caching#Schema
"""

import json
import re
from collections.abc import Set as AbstractSet
from typing import Any

FIELDS = {
    "contents", "systemInstruction", "tools", "toolConfig", "generationConfig",
    "safetySettings", "cachedContent",
}  # fmt: skip
PART_KINDS = ("text", "inlineData", "functionCall", "functionResponse")
PART_FIELDS = {*PART_KINDS, "thought", "thoughtSignature"}
SCHEMA_FIELDS = {
    "type", "format", "title", "description", "nullable", "enum", "items", "properties",
    "required", "minItems", "maxItems", "minLength", "maxLength", "pattern", "anyOf",
    "minimum", "maximum", "default", "example", "propertyOrdering", "minProperties",
    "maxProperties",
}  # fmt: skip
TOOL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")

Json = dict[str, Any]


def find_fault(request: Json, signatures: AbstractSet[str]) -> str | None:
    """Return why the request is refused, if it is."""
    fields = _camel(request)
    if unknown := fields.keys() - FIELDS:
        return f'Invalid JSON payload received. Unknown name "{min(unknown)}"'
    try:
        json.dumps(request, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "Invalid JSON payload received. Surrogate in a string"
    return _fault_in_tools(fields) or _fault_in_contents(
        fields.get("contents") or [], signatures
    )


def _fault_in_tools(fields: Json) -> str | None:
    for tool in fields.get("tools", []):
        for declared in _camel(tool).get("functionDeclarations", []):
            if not TOOL_NAME.fullmatch(declared.get("name", "")):
                return "Invalid function name"
            if fault := _fault_in_schema(declared.get("parameters", {})):
                return fault
    return None


def _fault_in_schema(schema: Json) -> str | None:
    fields = _camel(schema)
    if unknown := fields.keys() - SCHEMA_FIELDS:
        return f'Unknown name "{min(unknown)}" at schema: Cannot find field.'
    kind = str(fields.get("type", "")).lower()
    if kind == "object" and fields.get("properties") == {}:
        return "properties: should be non-empty for OBJECT type"
    if kind == "array" and not fields.get("items"):
        return "items: missing field."
    if "enum" in fields and kind != "string":
        return "enum: only allowed for STRING type"
    inner = [*fields.get("properties", {}).values(), *fields.get("anyOf", [])]
    inner += [fields["items"]] if "items" in fields else []
    return next(filter(None, map(_fault_in_schema, inner)), None)


def _fault_in_contents(
    contents: list[Json], signatures: AbstractSet[str]
) -> str | None:
    if not contents:
        return "* GenerateContentRequest.contents: contents is not specified"
    if contents[0].get("role") != "user":
        return "Please ensure that the first turn is a user turn"
    called: list[str] = []
    for content in contents:
        if content.get("role") not in ("user", "model"):
            return "Please use a valid role: user, model."
        parts = [_camel(part) for part in content.get("parts") or []]
        if fault := next(filter(None, map(_fault_in_part, parts)), None):
            return fault
        if not parts:
            return "contents.parts must not be empty."
        answers = _names(parts, "functionResponse")
        if answers != called:
            return (
                "Please ensure that the number of function response parts is equal to "
                "the number of function call parts of the function call turn."
            )
        called = _names(parts, "functionCall")
        if called and content["role"] != "model":
            return "Please ensure that function call turn is of role model"
    if called:
        return "Please ensure that the last turn is no function call"
    return _fault_in_signatures(contents, signatures)


def _fault_in_part(part: Json) -> str | None:
    if unknown := part.keys() - PART_FIELDS:
        return f'Unknown name "{min(unknown)}" at contents.parts: Cannot find field.'
    kinds = [kind for kind in PART_KINDS if kind in part]
    if len(kinds) != 1:
        return "contents.parts.data: required oneof field 'data' must have one field"
    answer = part.get("functionResponse", {"response": {}})
    if not isinstance(answer.get("response"), dict):
        return "function_response.response: must be a Struct"
    if not isinstance(part.get("functionCall", {"args": {}}).get("args", {}), dict):
        return "function_call.args: must be a Struct"
    return None


def _fault_in_signatures(
    contents: list[Json], signatures: AbstractSet[str]
) -> str | None:
    """Check what the model signed of the current turn, from the last words on."""
    spoken = [
        number
        for number, content in enumerate(contents)
        if content["role"] == "user" and any("text" in p for p in content["parts"])
    ]
    current = contents[spoken[-1] :] if spoken else contents
    parts = [_camel(part) for content in current for part in content["parts"]]
    calls = [part for part in parts if "functionCall" in part]
    sent = {part["thoughtSignature"] for part in calls if "thoughtSignature" in part}
    if sent - signatures:
        return "Thought signature is not valid."
    if signatures and calls and not sent:
        return "Function call is missing a thought_signature in functionCall parts."
    return None


def _names(parts: list[Json], kind: str) -> list[str]:
    return [part[kind]["name"] for part in parts if kind in part]


def _camel(fields: Json) -> Json:
    """Return the fields by the names of JSON; those of Protobuf are taken as well."""
    return {_camel_name(name): value for name, value in fields.items()}


def _camel_name(name: str) -> str:
    head, *more = name.split("_")
    return head + "".join(word.capitalize() for word in more)
