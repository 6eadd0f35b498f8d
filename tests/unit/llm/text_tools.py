"""Tools with every kind of parameter."""

from pydantic import JsonValue

from patchwright.core.llm.model import ToolSpec


def tool(name: str, required: list[JsonValue], **parameters: JsonValue) -> ToolSpec:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": parameters,
        "required": required,
    }
    return ToolSpec(name=name, description=f"To {name}.", parameters=schema)


TEXT: dict[str, JsonValue] = {"type": "string"}
NUMBER: JsonValue = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
SHELL = tool("shell", ["command"], command={**TEXT, "description": "A script."})
READ = tool(
    "read",
    ["path"],
    path=TEXT,
    start_line={"type": "integer"},
    end_line=NUMBER,
    deep={"type": "boolean"},
)
WRITE = tool("write", ["path", "content"], path=TEXT, content=TEXT)
FINISH = tool(
    "finish",
    ["summary"],
    summary=TEXT,
    test_commands={"type": "array", "items": TEXT, "description": "How to test."},
)
STATUS = tool("status", [])
_EDITS: JsonValue = {"type": "array", "items": {"$ref": "#/$defs/Edit"}}
_EDIT: JsonValue = {
    "type": "object",
    "properties": {
        "old": TEXT,
        "new": TEXT,
        "occurrence": NUMBER,
        "how": {"type": "string", "enum": ["first", "all"]},
    },
    "required": ["old", "new"],
}
_EDIT_TOOL = tool("edit", ["path", "edits"], path=TEXT, edits=_EDITS)
EDIT = _EDIT_TOOL.replace(
    parameters={**_EDIT_TOOL.parameters, "$defs": {"Edit": _EDIT}}
)
