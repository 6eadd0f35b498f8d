"""Read the tool calls of a reply so that they can be run, or refused, and repeated."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import AssistantTurn, ModelRequest, ToolSpec
from patchwright.core.text.strings import well_formed, well_formed_tree
from patchwright.core.types.base import Value

NO_ARGUMENTS = "{}"
MAX_NAME_LENGTH = 64
# Leaves room for the number that makes a repeated one unique.
MAX_ID_LENGTH = 34
# All that walks through arguments later goes down one level at a time.
MAX_DEPTH = 100
TOO_DEEP = f"The arguments were nested more than {MAX_DEPTH} levels deep."
_BAD_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9_-]")


class SentCall(Value):
    """A tool call as a provider sends it, with anything missing.

    `fault` says what is wrong with its form. The last two hold what Gemini signs its
    calls with, by its own protocol and by that of OpenAI.
    """

    id: str = ""
    name: str = ""
    arguments: str = ""
    fault: str = ""
    provider_specific_fields: dict[str, JsonValue] | None = None
    extra_content: dict[str, JsonValue] | None = None

    @property
    def extras(self) -> dict[str, JsonValue]:
        """Return what must go back with the call, by key."""
        named: dict[str, JsonValue] = {
            "provider_specific_fields": self.provider_specific_fields,
            "extra_content": self.extra_content,
        }
        return {key: value for key, value in named.items() if value}


class ReadCalls(Value):
    """Calls that can be stored: with ids of their own, and arguments that are JSON.

    `malformed` says by id what is wrong with those that must not be run; `extras` is
    what the provider wants back with a call.
    """

    calls: tuple[ToolCall, ...] = ()
    malformed: dict[str, str] = {}
    extras: dict[str, dict[str, JsonValue]] = {}


def read_sent_call(sent: Mapping[str, JsonValue]) -> SentCall:
    """Read a call of any form; what cannot be read is as if it were not there."""
    wrapped = sent.get("function")
    function = wrapped if isinstance(wrapped, dict) else sent
    arguments, fault = _written(function.get("arguments"))
    return SentCall(
        id=_text(sent.get("id")),
        name=_text(function.get("name")),
        arguments=arguments,
        fault=fault,
        provider_specific_fields=read_fields(sent.get("provider_specific_fields")),
        extra_content=read_fields(sent.get("extra_content")),
    )


def _written(arguments: JsonValue) -> tuple[str, str]:
    """Return the arguments as text, which some providers send as an object."""
    if arguments is None or isinstance(arguments, str):
        return arguments or "", ""
    if is_deeper_than(arguments, MAX_DEPTH):
        return "", TOO_DEEP
    return json.dumps(arguments, ensure_ascii=False), ""


def _text(value: JsonValue) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return well_formed(str(value))


def read_fields(value: JsonValue) -> dict[str, JsonValue] | None:
    if not isinstance(value, dict) or is_deeper_than(value, MAX_DEPTH):
        return None
    tree = well_formed_tree(value)
    return tree if isinstance(tree, dict) else None


def read_calls(calls: Sequence[SentCall], request: ModelRequest) -> ReadCalls:
    tools = {tool.name: tool for tool in request.tools}
    taken = _call_ids(request)
    read: list[ToolCall] = []
    malformed: dict[str, str] = {}
    extras: dict[str, dict[str, JsonValue]] = {}
    for call in calls:
        call_id = _unique(_safe_id(call.id or "call"), taken)
        name, name_fault = _read_name(call.name)
        arguments, fault = read_arguments(call.arguments, tools.get(name))
        read.append(ToolCall(id=call_id, name=name, arguments=arguments))
        if wrong := name_fault or call.fault or fault:
            malformed[call_id] = wrong
        if call.extras:
            extras[call_id] = call.extras
    return ReadCalls(calls=tuple(read), malformed=malformed, extras=extras)


def _safe_id(call_id: str) -> str:
    """Return an id that every provider takes back, should another one be asked.

    Anthropic wants letters, digits, `_` and `-`, OpenAI at most 40 of them.
    """
    return _BAD_NAME_CHARACTERS.sub("_", call_id)[:MAX_ID_LENGTH]


def _call_ids(request: ModelRequest) -> set[str]:
    return {
        call.id
        for message in request.messages
        if isinstance(message, AssistantTurn)
        for call in message.tool_calls
    }


def _unique(wanted: str, taken: set[str]) -> str:
    """Return an id nobody has, and take it; some servers number from 0 each time."""
    call_id, number = wanted, 1
    while call_id in taken:
        number += 1
        call_id = f"{wanted}_{number}"
    taken.add(call_id)
    return call_id


def _read_name(name: str) -> tuple[str, str]:
    """Return a name that a provider takes back, and what was wrong with this one."""
    safe = _BAD_NAME_CHARACTERS.sub("_", name)[:MAX_NAME_LENGTH] or "unnamed"
    return safe, "" if safe == name else f"There is no tool named {name[:80]!r}."


def read_arguments(text: str, tool: ToolSpec | None) -> tuple[str, str]:
    """Return the arguments as the text of a JSON object, and what was wrong with them.

    Nothing at all is fine for a tool that has no parameters.
    """
    if not text.strip():
        needed = tool is None or bool(tool.parameters.get("properties"))
        return NO_ARGUMENTS, "The arguments were empty." if needed else ""
    try:
        return _read_json(text)
    except RecursionError:
        return NO_ARGUMENTS, TOO_DEEP


def _read_json(text: str) -> tuple[str, str]:
    try:
        arguments: JsonValue = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        return NO_ARGUMENTS, f"The arguments were not valid JSON: {error}"
    except ValueError as error:
        return (
            NO_ARGUMENTS,
            f"The arguments were not valid JSON: {_number_fault(error)}",
        )
    if is_deeper_than(arguments, MAX_DEPTH):
        return NO_ARGUMENTS, TOO_DEEP
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        return NO_ARGUMENTS, f"The arguments were not a JSON object but a {kind}."
    # As it came, unless an escape in it stands for half of a surrogate pair.
    clean = well_formed_tree(arguments)
    same = clean == arguments
    return text if same else json.dumps(clean, ensure_ascii=False), ""


class _ConstantError(ValueError):
    """JSON has no infinite numbers, and none that are no numbers."""


def _refuse_constant(name: str) -> None:
    raise _ConstantError(f"{name} is not a JSON number")


def _number_fault(error: ValueError) -> str:
    # Python's own message is about its settings.
    is_ours = isinstance(error, _ConstantError)
    return str(error) if is_ours else "a number in them has too many digits"


def is_deeper_than(value: JsonValue, levels: int) -> bool:
    """Tell whether lists and objects are nested more than so many levels deep."""
    layer = _containers([value])
    for _ in range(levels):
        layer = [inner for outer in layer for inner in _containers(_inside(outer))]
    return bool(layer)


def _containers(values: Iterable[JsonValue]) -> list[JsonValue]:
    return [value for value in values if isinstance(value, list | dict)]


def _inside(value: JsonValue) -> Iterable[JsonValue]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()
