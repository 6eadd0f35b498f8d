"""Find the tool calls in a reply that was written as text, however it was written."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from patchwright.core.llm.model import ToolSpec
from patchwright.core.llm.text_arguments import WrittenCall, build_arguments
from patchwright.core.llm.text_schema import parameters_of, same_name
from patchwright.core.llm.tool_calls import SentCall

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
_FENCED = re.compile(r"\A```[\w-]*\n(.*?)\n?```\Z", re.DOTALL)
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
    """Read a reply that is nothing but a call in JSON."""
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
