"""Tools and their calls written as plain text, for models without tools."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence

from pydantic import JsonValue

from patchwright.core.llm.model import ToolResult, ToolSpec

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


# The arguments that are the whole text of a file.
FILE_TEXTS = frozenset({"content"})

_CALL_RULES = """\
# Tools

You act by calling tools, and a call is text of this form in your reply:

<call tool="NAME">
<arg name="SHORT">one line</arg>
<arg name="LONG">
several lines, exactly as they are:
nothing is quoted or escaped
</arg>
</call>

Write as many calls as you want done one after the other, then end your reply: the
results come in the next message. Never write a result yourself. Lists and objects are
written piece by piece, with dotted names: `edits.0.old`, `edits.0.new`, `edits.1.old`.

The tools are:
"""


def describe_tools(tools: tuple[ToolSpec, ...]) -> str:
    return "\n\n".join([_CALL_RULES.rstrip(), *map(_describe, tools)])


def write_call(name: str, arguments: Mapping[str, JsonValue]) -> str:
    written = "".join(
        f"{_write_argument(path, value)}\n"
        for key, argument in arguments.items()
        for path, value in _leaves(key, argument)
    )
    return f'<call tool="{name}">\n{written}</call>'


def write_result(result: ToolResult, tool: str) -> str:
    return f'<result tool="{tool}">\n{result.text}\n</result>'


def _describe(tool: ToolSpec) -> str:
    lines = [f"## {tool.name}", "", tool.description]
    required = tool.parameters.get("required")
    needed = required if isinstance(required, list) else []
    for name, schema in parameters_of(tool).items():
        lines += _describe_parameter(name, schema, tool, is_needed=name in needed)
    return "\n".join(lines)


def _describe_parameter(
    name: str, schema: Schema, tool: ToolSpec, *, is_needed: bool
) -> Iterator[str]:
    schema = resolved(schema, tool)
    items = schema.get("items")
    kinds = kinds_of(schema, tool)
    if kinds == ["array"] and isinstance(items, dict):
        schema = {**resolved(items, tool), **_described(schema)}
        name, kinds = f"{name}.0", kinds_of(items, tool)
    text = f"- `{name}` ({'/'.join(kinds)}{'' if is_needed else ', optional'})"
    choices = schema.get("enum")
    if isinstance(choices, list):
        text += f", one of {', '.join(map(str, choices))}"
    about = schema.get("description")
    yield f"{text}: {about}" if about else text
    inner = schema.get("properties")
    if isinstance(inner, dict):
        wanted = schema.get("required")
        for key, part in inner.items():
            is_wanted = isinstance(wanted, list) and key in wanted
            yield from _describe_parameter(
                f"{name}.{key}",
                part if isinstance(part, dict) else {},
                tool,
                is_needed=is_wanted,
            )


def _described(schema: Schema) -> Schema:
    about = schema.get("description")
    return {"description": about} if about else {}


def _leaves(path: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield what a value is made of, each under its dotted name."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _leaves(f"{path}.{key}", part)
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            yield from _leaves(f"{path}.{number}", part)
    else:
        yield path, value


def _write_argument(name: str, value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if "\n" not in text:
        return f'<arg name="{name}">{text}</arg>'
    ends = "" if name in FILE_TEXTS else "\n"
    return f'<arg name="{name}">\n{text}{ends}</arg>'
