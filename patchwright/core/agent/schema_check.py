"""Hold values against a JSON schema; imported late, as its library takes its time."""

from typing import Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from pydantic import JsonValue

_MAX_FAULTS: Final = 5
_MAX_FAULT_CHARS: Final = 300


def find_mistake(schema: dict[str, JsonValue]) -> str:
    """Say what makes a schema none, or return nothing."""
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return _told(error.json_path, error.message)
    except RecursionError:
        return "it is nested too deeply"
    return ""


def find_faults(schema: dict[str, JsonValue], value: JsonValue) -> tuple[str, ...]:
    """Say why a value does not fit, a line for each of the first reasons."""
    kind = validator_for(schema, default=Draft202012Validator)
    found: list[str] = []
    try:
        for error in kind(schema).iter_errors(value):
            found.append(_told(error.json_path, error.message))
            if len(found) == _MAX_FAULTS:
                break
    except RecursionError:
        found.append("it cannot be checked: value or schema is nested too deeply")
    return tuple(found)


def _told(path: str, message: str) -> str:
    return f"{path}: {message[:_MAX_FAULT_CHARS]}"
