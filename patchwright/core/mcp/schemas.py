"""Judge the schemas that servers give to their tools."""

import json
from typing import Final

from pydantic import JsonValue

from patchwright.core.text.invisible import strip_invisible

MAX_SCHEMA_BYTES: Final = 20_000
MAX_DEPTH: Final = 24


class SchemaError(ValueError):
    """A schema cannot be shown to a model; the message says why."""


def read_tool_schema(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a schema as models get it, without characters that people do not see.

    Raises `SchemaError` for one that describes no object, or is absurdly large.
    """
    if schema.get("type", "object") != "object":
        raise SchemaError("its parameters are not an object")
    if not isinstance(schema.get("properties", {}), dict):
        raise SchemaError("its properties are not an object")
    fields = {key: _visible(value, MAX_DEPTH) for key, value in schema.items()}
    size = len(json.dumps(fields))
    if size > MAX_SCHEMA_BYTES:
        raise SchemaError(f"its schema has {size} bytes, and {MAX_SCHEMA_BYTES} may be")
    # It names the dialect, which some providers take for an unknown keyword.
    fields.pop("$schema", None)
    return {**fields, "type": "object", "properties": fields.get("properties", {})}


def _visible(value: JsonValue, depth: int) -> JsonValue:
    if depth == 0:
        raise SchemaError(f"its schema is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        return strip_invisible(value)[0]
    if isinstance(value, list):
        return [_visible(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {
            strip_invisible(key)[0]: _visible(item, depth - 1)
            for key, item in value.items()
        }
    return value
