"""Read the schema of a tool's parameters, and values written as text by it."""

import json
from collections.abc import Collection, Sequence

from pydantic import JsonValue

from patchwright.core.llm.model import ToolSpec

Schema = dict[str, JsonValue]

NULL = ("null", "none", "")


def parameters_of(tool: ToolSpec) -> dict[str, Schema]:
    found = tool.parameters.get("properties")
    named = found if isinstance(found, dict) else {}
    return {name: _schema(schema) for name, schema in named.items()}


def same_name(name: str, known: Collection[str]) -> str:
    """Return the known name that this is in another case, or else the name itself."""
    by_lower = {other.lower(): other for other in known}
    return name if name in known else by_lower.get(name.lower(), name)


def resolved(schema: Schema, tool: ToolSpec) -> Schema:
    """Follow a reference to the definitions of the tool."""
    reference = schema.get("$ref")
    definitions = tool.parameters.get("$defs")
    if not isinstance(reference, str) or not isinstance(definitions, dict):
        return schema
    found = _schema(definitions.get(reference.rpartition("/")[2]))
    return {**found, **{key: part for key, part in schema.items() if key != "$ref"}}


def kinds_of(schema: Schema, tool: ToolSpec) -> list[str]:
    """Return the JSON types that a value may have, `null` excepted."""
    schema = resolved(schema, tool)
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list):
        kinds = [kind for part in options for kind in kinds_of(_schema(part), tool)]
    else:
        stated = schema.get("type", "string")
        kinds = [
            str(kind) for kind in (stated if isinstance(stated, list) else [stated])
        ]
    return [kind for kind in dict.fromkeys(kinds) if kind != "null"]


def part_schema(schema: Schema, path: Sequence[str], tool: ToolSpec) -> Schema:
    """Return the schema of what a dotted name stands for."""
    for key in path:
        schema = resolved(schema, tool)
        properties = schema.get("properties")
        if key.isdecimal() and "items" in schema:
            schema = _schema(schema["items"])
        elif isinstance(properties, dict):
            schema = _schema(properties.get(key))
        else:
            return {}
    return schema


def read_value(text: str, schema: Schema, tool: ToolSpec) -> JsonValue:
    """Read a value as its schema wants it; raises `ValueError` when it is no such."""
    kinds = kinds_of(schema, tool)
    if "string" in kinds:
        return text
    plain = text.strip()
    if plain.lower() in NULL and "array" not in kinds:
        return None
    if kinds == ["boolean"]:
        plain = plain.lower()
    try:
        return _checked(json.loads(plain), kinds)
    except (ValueError, RecursionError):
        if kinds == ["array"] and not plain.startswith("["):
            return _lines(text)
        raise ValueError(f"{plain[:80]!r} is no {' or '.join(kinds)}") from None


def _lines(text: str) -> JsonValue:
    """Read a list of texts that was written one a line, perhaps with bullets."""
    return [
        line.strip().removeprefix("- ") for line in text.splitlines() if line.strip()
    ]


def _checked(value: JsonValue, kinds: Sequence[str]) -> JsonValue:
    """Refuse what is JSON of another type; a number is checked where it is used."""
    if "array" in kinds and not isinstance(value, list):
        raise ValueError("no list")
    return value


def _schema(value: JsonValue) -> Schema:
    return value if isinstance(value, dict) else {}
