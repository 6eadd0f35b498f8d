"""The tool calls in a reply that was written as text, however it was written."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from patchwright.core.llm.model import ToolSpec
from patchwright.core.llm.text_form import (
    FILE_TEXTS,
    Schema,
    kinds_of,
    parameters_of,
    part_schema,
    read_value,
    same_name,
)
from patchwright.core.llm.tool_calls import (
    MAX_DEPTH,
    TOO_DEEP,
    SentCall,
    is_deeper_than,
)

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
    """Split a dotted name, `edits.0.old` or `edits[0].old`; correct its case."""
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


CUT_OFF = "The reply was cut off in the middle of this call. Make it shorter."

# Bounded, since a reply may begin a tag at each character and end none.
_ATTRIBUTES = r"""(?:"[^"]*"|'[^']*'|[^<>"']++){0,64}"""
_ARG_WORDS = "arg|argument|param|parameter"
# `<call tool="x">` as asked for, and what models were trained to write instead.
_OPEN = re.compile(
    rf"<(?:(?:call|invoke|tool_call|function_call)\b(?P<attributes>{_ATTRIBUTES})"
    r"|function=(?P<function>[^<>\s]{1,200})\s*)>",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    r"</(?:call|invoke|tool_call|function_call|function)\s*>", re.IGNORECASE
)
_ARGUMENT = re.compile(
    rf"<(?:{_ARG_WORDS})(?:\s+(?:name|key)\s*=\s*|\s*=\s*|\s+)"
    r"""["']?(?P<name>[\w.\[\]-]+)["']?(?:\s[^>]*)?>""",
    re.IGNORECASE,
)
_ARGUMENT_END = re.compile(rf"</(?:{_ARG_WORDS})\s*>", re.IGNORECASE)
# An end tag within an argument, such as in a file about this very form, is followed by
# something else than what may follow an argument.
_REAL_END = re.compile(
    rf"</(?:{_ARG_WORDS})\s*>(?=\s*(?:\Z|```|<(?:{_ARG_WORDS})\b"
    r"|<(?:call|invoke|tool_call|function_call)\b|<function="
    r"|</(?:call|invoke|tool_call|function_call|function)\s*>))",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/>]+))""")
_NAMES = ("tool", "name", "function")
_RESULT = re.compile(r"<(?:result|tool_result|observation)\b[^>]*>", re.IGNORECASE)
_THOUGHT = re.compile(r"\A(?:\s*<think>)?.*?</think>", re.DOTALL | re.IGNORECASE)
_BLANKS = re.compile(r"\s*")
_EMPTY_FENCE = re.compile(r"```[\w-]*\s*```")
_GROUP = re.compile(r"</?(?:function_calls|tool_calls|calls)\s*>", re.IGNORECASE)


class TextReply(NamedTuple):
    """What a reply says beside its calls, the calls, and by position their faults."""

    prose: str
    calls: list[SentCall]
    faults: dict[int, str]


class _FoundCall(NamedTuple):
    name: str
    written: WrittenCall
    end: int
    is_closed: bool


def read_text_reply(
    text: str, tools: Sequence[ToolSpec], *, is_cut_off: bool
) -> TextReply:
    """Read a reply; with `is_cut_off`, a call that does not end is not to be run."""
    by_name = {tool.name: tool for tool in tools}
    text = _THOUGHT.sub("", text, count=1) if "</think>" in text.lower() else text
    prose, calls, faults = "", list[SentCall](), dict[int, str]()
    at = 0
    while opened := _OPEN.search(text, at):
        between = text[at : opened.start()]
        if calls and _RESULT.search(between):
            break
        found = _read_call(text, opened, by_name)
        prose, at = prose + between, found.end
        call, fault = _sent(found, by_name.get(found.name))
        if is_cut_off and not found.is_closed:
            fault = CUT_OFF
        if fault:
            faults[len(calls)] = fault
        calls.append(call)
    rest = text[at:]
    prose += _RESULT.split(rest, maxsplit=1)[0] if calls else rest
    if not calls and (bare := _bare_call(prose, by_name)):
        return TextReply("", [bare], {})
    return TextReply(_tidy(prose), calls, faults)


def _read_call(
    text: str, opened: re.Match[str], tools: Mapping[str, ToolSpec]
) -> _FoundCall:
    name, attributes = _read_tag(opened, tools)
    # Some wrap one form in another: `<tool_call><function=x>`.
    while not name and not _is_empty(opened):
        inner = _OPEN.match(text, _past_blanks(text, opened.end()))
        if inner is None:
            break
        opened = inner
        name, attributes = _read_tag(opened, tools)
    at = opened.end()
    if _is_empty(opened):
        return _FoundCall(name, WrittenCall(attributes, ""), at, is_closed=True)
    pieces, loose, at, is_closed = _read_body(text, at, tools.get(name))
    return _FoundCall(name, WrittenCall({**attributes, **pieces}, loose), at, is_closed)


def _read_tag(
    opened: re.Match[str], tools: Mapping[str, ToolSpec]
) -> tuple[str, dict[str, str]]:
    """Return the name of the tool that a tag calls, and its other attributes."""
    attributes = _read_attributes(opened["attributes"] or "")
    named = [attributes.pop(key) for key in _NAMES if key in attributes]
    return same_name(opened["function"] or "".join(named[:1]), tools), attributes


def _is_empty(opened: re.Match[str]) -> bool:
    return (opened["attributes"] or "").rstrip().endswith("/")


def _read_body(
    text: str, at: int, tool: ToolSpec | None
) -> tuple[dict[str, str], str, int, bool]:
    """Return the arguments, the text between them, where it ends, and if it says so."""
    pieces, loose = dict[str, str](), ""
    while True:
        argument = _next_argument(text, at, tool)
        close = _CLOSE.search(text, at)
        opened = _OPEN.search(text, at)
        starts = [found.start() for found in (argument, close, opened) if found]
        first = min(starts, default=len(text))
        loose += text[at:first]
        if argument and argument.start() == first:
            value, at = _read_argument(text, argument)
            pieces[argument["name"]] = value
        elif close and close.start() == first:
            return pieces, loose, _past_more_ends(text, close.end()), True
        else:
            return pieces, loose, first, first < len(text)


def _past_more_ends(text: str, at: int) -> int:
    while closed := _CLOSE.match(text, _past_blanks(text, at)):
        at = closed.end()
    return at


def _next_argument(text: str, at: int, tool: ToolSpec | None) -> re.Match[str] | None:
    """Find `<arg name="x">`, or a tag that is called like a parameter of the tool."""
    found = _ARGUMENT.search(text, at)
    names = "|".join(map(re.escape, parameters_of(tool))) if tool else ""
    own = re.compile(rf"<(?P<name>{names})>").search(text, at) if names else None
    both = [match for match in (found, own) if match]
    return min(both, key=lambda match: match.start(), default=None)


def _read_argument(text: str, opened: re.Match[str]) -> tuple[str, int]:
    start = opened.end()
    own = re.compile(rf"</{re.escape(opened['name'])}\s*>")
    end = (
        _REAL_END.search(text, start)
        or _ARGUMENT_END.search(text, start)
        or own.search(text, start)
    )
    if not opened[0].lower().startswith(("<arg", "<param")):
        end = own.search(text, start) or end
    end = end or _CLOSE.search(text, start)
    if end is None:
        return text[start:], len(text)
    is_own = not _CLOSE.fullmatch(end[0])
    return text[start : end.start()], end.end() if is_own else end.start()


def _sent(found: _FoundCall, tool: ToolSpec | None) -> tuple[SentCall, str]:
    name, arguments, fault = build_arguments(found.name, found.written, tool)
    return SentCall(name=name, arguments=arguments), fault


def _bare_call(prose: str, tools: Mapping[str, ToolSpec]) -> SentCall | None:
    """Read a reply that is only a call in JSON."""
    text = prose.strip()
    fenced = _FENCED.match(text)
    try:
        value: JsonValue = json.loads(fenced[1] if fenced else text)
        written = json.dumps(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    name, arguments, fault = build_arguments("", WrittenCall({}, written), None)
    if name not in tools or fault:
        return None
    return SentCall(name=name, arguments=arguments)


def _read_attributes(text: str) -> dict[str, str]:
    return {key.lower(): a or b or c for key, a, b, c in _ATTRIBUTE.findall(text)}


def _past_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _tidy(prose: str) -> str:
    """Drop the fences and groups that stood around calls."""
    return _EMPTY_FENCE.sub("", _GROUP.sub("", prose)).strip()
