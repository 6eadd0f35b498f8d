"""Write the models of `patchwright.client` from the OpenAPI document."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from tests.architecture.tree import ROOT

MODELS_FILE = ROOT / "patchwright" / "client" / "models.py"
_Tree = Mapping[str, Any]
_HEAD = '''\
"""The values of the API, made from its document: `make reference` writes them anew."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict


class ApiValue(BaseModel):
    """A frozen value; fields that a newer service adds are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")
'''
_SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_WIDTH = 88


def client_models(document: _Tree) -> str:
    """Return the module. Raises `LookupError` for a schema that it does not know."""
    schemas: _Tree = document["components"]["schemas"]
    parts = (_class(name, schemas[name]) for name in _in_order(schemas))
    return "\n\n".join([_HEAD, *parts])


def _in_order(schemas: _Tree) -> list[str]:
    """Return the names so that each class stands below those it is made of."""
    done: dict[str, None] = {}

    def add(name: str) -> None:
        for inner in sorted(_referred(schemas[name])):
            if inner not in done:
                add(inner)
        done[name] = None

    for name in sorted(schemas):
        add(name)
    return list(done)


def _referred(schema: object) -> Iterator[str]:
    match schema:
        case {"$ref": str(address)}:
            yield address.rpartition("/")[2]
        case dict():
            for inner in schema.values():
                yield from _referred(inner)
        case list():
            for inner in schema:
                yield from _referred(inner)
        case _:
            return


def _class(name: str, schema: _Tree) -> str:
    about = _docstring(schema.get("description", f"A {name}."))
    if "enum" in schema:
        words = [
            f'    {one.upper().replace("-", "_")} = "{one}"\n' for one in schema["enum"]
        ]
        return f"class {name}(StrEnum):\n{about}\n{''.join(words)}"
    required = set(schema.get("required", ()))
    fields = [
        _field(field, one, is_required=field in required)
        for field, one in schema.get("properties", {}).items()
    ]
    # What must be there stands first, as in a signature.
    fields.sort(key=lambda line: " = " in line)
    return f"class {name}(ApiValue):\n{about}\n{''.join(fields)}"


def _field(name: str, schema: _Tree, *, is_required: bool) -> str:
    default = "" if is_required else f" = {_default(schema)}"
    return f"    {name}: {_type(schema)}{default}\n"


def _default(schema: _Tree) -> str:
    match schema.get("default"):
        case list():
            return "()"
        case str(text):
            return f'"{text}"'
        case other:
            return repr(other)


def _type(schema: _Tree) -> str:
    match schema:
        case {"$ref": str(address)}:
            return address.rpartition("/")[2]
        case {"anyOf": [*kinds]}:
            return " | ".join(_type(one) for one in kinds)
        case {"type": "null"}:
            return "None"
        case {"type": "array", "items": items}:
            return f"tuple[{_type(items)}, ...]"
        case {"type": "object"}:
            return "dict[str, Any]"
        case {"type": "string", "format": "date-time"}:
            return "datetime"
        case {"type": str(kind)}:
            return _SIMPLE[kind]
        case _ if set(schema) <= {"description", "default"}:
            return "Any"
        case _:
            raise LookupError(f"no type is known for {schema}")


def _docstring(text: str) -> str:
    first, _, rest = text.partition("\n\n")
    if not rest:
        return f'    """{first}"""\n'
    wrapped = textwrap.fill(
        " ".join(rest.split()),
        _WIDTH,
        initial_indent="    ",
        subsequent_indent="    ",
    )
    return f'    """{first}\n\n{wrapped}\n    """\n'
