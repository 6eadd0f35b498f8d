"""How tool calls and their results are written as plain text, for models without tools.

    <call tool="write">
    <arg name="path">src/a.py</arg>
    <arg name="content">
    print("any text, as it is")
    </arg>
    </call>

Nothing in an argument is escaped. An argument of several lines stands between lines of
its own; that of a file ends with a line break, any other does not. What is in a list or
an object has a dotted name: `edits.0.old`.
"""

import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from patchwright.core.llm.model import ToolResult, ToolSpec
from patchwright.core.llm.text_schema import Schema, kinds_of, parameters_of, resolved

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
