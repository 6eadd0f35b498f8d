"""Hold documents against Atlassian's schema of them, without trying every node."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft4Validator, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from tests.provision.environment import corpus

Json = dict[str, Any]
_HERE = "#/definitions/"


def fits(document: Json) -> bool:
    """Tell whether it is a document, as far as a schema is at hand."""
    schema = _schema()
    return schema is None or bool(schema.is_valid(document))


def check(document: Json) -> None:
    """Raise if it is no document; anything is, where no schema is at hand."""
    if schema := _schema():
        schema.validate(document)


@cache
def _schema() -> Validator | None:
    folder = corpus()
    if folder is None:
        return None
    raw = json.loads((folder / "jira" / "adf" / "adf.schema.json").read_bytes())
    definitions: Json = raw["definitions"]

    def any_of(
        validator: Any, choices: list[Json], instance: Any, schema: Json
    ) -> Iterator[ValidationError]:
        """Try those choices alone that are about nodes of that type."""
        usual = Draft4Validator.VALIDATORS["anyOf"]
        left = [one for one in choices if _may_be(one, instance, definitions)]
        yield from usual(validator, left, instance, schema)

    kind: Any = extend(Draft4Validator, {"anyOf": any_of})  # type: ignore[no-untyped-call]  # the library's own
    made: Validator = kind(raw)
    return made


def _may_be(schema: Json, instance: Any, definitions: Json) -> bool:
    if not isinstance(instance, dict) or "type" not in instance:
        return True
    kinds = _kinds(schema, definitions)
    return kinds is None or instance["type"] in kinds


def _kinds(schema: Json, definitions: Json) -> list[str] | None:
    """Return which types a schema allows, or None if it does not say."""
    if "$ref" in schema:
        found = definitions[schema["$ref"].removeprefix(_HERE)]
        return _kinds(found, definitions)
    said = schema.get("properties", {}).get("type", {}).get("enum")
    if said is not None:
        return list(said)
    parts = (_kinds(part, definitions) for part in schema.get("allOf", []))
    return next((kinds for kinds in parts if kinds is not None), None)
