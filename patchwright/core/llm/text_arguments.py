"""Make JSON arguments of what a model wrote between the tags of a call."""

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from patchwright.core.llm.model import ToolSpec
from patchwright.core.llm.text_form import FILE_TEXTS
from patchwright.core.llm.text_schema import (
    Schema,
    kinds_of,
    parameters_of,
    part_schema,
    read_value,
    same_name,
)
from patchwright.core.llm.tool_calls import MAX_DEPTH, TOO_DEEP, is_deeper_than

_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_NAME_KEYS = ("name", "tool", "function")
_FIRST_BREAK = re.compile(r"\A[ \t]*\r?\n")
_LAST_BREAK = re.compile(r"(\r?\n)[ \t]*\Z")
_FENCED = re.compile(r"\A```[\w-]*\n(.*?)\n?```\Z", re.DOTALL)
LARGEST_LIST = 1000


class WrittenCall(NamedTuple):
    """A call as it was written: its arguments by name, and the text beside them."""

    pieces: Mapping[str, str]
    loose: str


def build_arguments(
    name: str, written: WrittenCall, tool: ToolSpec | None
) -> tuple[str, str, str]:
    """Return the tool's name, its arguments as JSON, and what is wrong with them."""
    loose = written.loose.strip()
    if fenced := _FENCED.match(loose):
        loose = fenced[1].strip()
    if not written.pieces and loose.startswith("{"):
        return _from_json(name, loose)
    if not written.pieces and loose and tool and (only := _only_parameter(tool)):
        return _from_pieces(name, {only: written.loose}, tool)
    return _from_pieces(name, written.pieces, tool)


def _from_json(name: str, text: str) -> tuple[str, str, str]:
    try:
        # A line break within a text is what models forget to escape.
        value: JsonValue = json.loads(text, strict=False)
        json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return name, text, ""
    if not isinstance(value, dict):
        return name, text, ""
    inner = [key for key in _ARGUMENT_KEYS if isinstance(value.get(key), dict)]
    named = [key for key in _NAME_KEYS if isinstance(value.get(key), str)]
    if named and (not name or inner):
        name = str(value[named[0]])
        value = value[inner[0]] if inner else {}
    elif not name:
        return "", text, ""
    elif len(inner) == 1 and len(value) == 1:
        value = value[inner[0]]
    return name, json.dumps(value, ensure_ascii=False), ""


def _from_pieces(
    name: str, pieces: Mapping[str, str], tool: ToolSpec | None
) -> tuple[str, str, str]:
    arguments: dict[str, JsonValue] = {}
    schema = tool.parameters if tool else {}
    for key, raw in pieces.items():
        path = _path(key, tool)
        try:
            value = _read(raw, path, schema, tool)
            _place(arguments, path, value)
        except ValueError as error:
            return name, "{}", f"The argument `{key}` cannot be read: {error}."
    if is_deeper_than(arguments, MAX_DEPTH):
        return name, "{}", TOO_DEEP
    return name, json.dumps(arguments, ensure_ascii=False), ""


def _read(
    raw: str, path: list[str], schema: Schema, tool: ToolSpec | None
) -> JsonValue:
    text = _unframed(raw, is_file=len(path) == 1 and path[0] in FILE_TEXTS)
    if tool is None:
        return text
    part = part_schema(schema, path, tool)
    if "enum" in part or kinds_of(part, tool) != ["string"]:
        text = text.strip()
    return read_value(text, part, tool)


def _unframed(raw: str, *, is_file: bool) -> str:
    """Drop the line breaks that put a text between lines of its own."""
    text, frames = _FIRST_BREAK.subn("", raw)
    if not frames:
        return raw
    return _LAST_BREAK.sub(r"\1" if is_file else "", text)


def _path(key: str, tool: ToolSpec | None) -> list[str]:
    """Split a dotted name, `edits.0.old` or `edits[0].old`; mend its case."""
    known = parameters_of(tool) if tool else {}
    if key in known:
        return [key]
    first, *rest = re.sub(r"\[(\d+)\]", r".\1", key).split(".")
    return [same_name(first, known), *rest]


def _place(tree: dict[str, JsonValue], path: list[str], value: JsonValue) -> None:
    """Put a value where its dotted name says; lists grow as they are needed."""
    at: JsonValue = tree
    for key, following in pairwise(path):
        fresh: JsonValue = [] if following.isdecimal() else {}
        at = _child(at, key, fresh)
    _put(at, path[-1], value)


def _child(at: JsonValue, key: str, fresh: JsonValue) -> JsonValue:
    if isinstance(at, dict):
        return at.setdefault(key, fresh)
    items, number = _grown(at, key)
    if items[number] is None:
        items[number] = fresh
    return items[number]


def _put(at: JsonValue, key: str, value: JsonValue) -> None:
    if isinstance(at, dict):
        at[key] = value
        return
    items, number = _grown(at, key)
    items[number] = value


def _grown(at: JsonValue, key: str) -> tuple[list[JsonValue], int]:
    """Return a list that has a place of that number."""
    if not isinstance(at, list) or not key.isdecimal():
        raise ValueError("its name does not fit the others")
    number = int(key)
    if number > LARGEST_LIST:
        raise ValueError("its number is too large")
    at.extend([None] * (number + 1 - len(at)))
    return at, number


def _only_parameter(tool: ToolSpec) -> str | None:
    """Return the parameter that a text without a name must be."""
    required = tool.parameters.get("required")
    names = required if isinstance(required, list) else list(parameters_of(tool))
    return str(names[0]) if len(names) == 1 else None
