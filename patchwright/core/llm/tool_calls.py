"""Read the tool calls of a reply so that they can be run, or refused, and repeated."""

import json
import re
from collections.abc import Sequence

from pydantic import JsonValue

from patchwright.core.events.types import ToolCall
from patchwright.core.llm.model import AssistantTurn, ModelRequest, ToolSpec
from patchwright.core.text.surrogates import well_formed_tree
from patchwright.core.types.base import Value

NO_ARGUMENTS = "{}"
MAX_NAME_LENGTH = 64
# Leaves room for the number that makes a repeated one unique.
MAX_ID_LENGTH = 34
_BAD_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9_-]")


class SentFunction(Value):
    name: str | None = None
    arguments: str | None = None


class SentCall(Value):
    """A tool call as a provider sends it, with anything missing.

    The last two hold what Gemini signs its calls with, by its own protocol and by that
    of OpenAI.
    """

    id: str | None = None
    function: SentFunction = SentFunction()
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


def read_calls(calls: Sequence[SentCall], request: ModelRequest) -> ReadCalls:
    tools = {tool.name: tool for tool in request.tools}
    taken = _call_ids(request)
    read: list[ToolCall] = []
    malformed: dict[str, str] = {}
    extras: dict[str, dict[str, JsonValue]] = {}
    for call in calls:
        call_id = _unique(_safe_id(call.id or "call"), taken)
        name, name_fault = _read_name(call.function.name or "")
        arguments, fault = read_arguments(call.function.arguments, tools.get(name))
        read.append(ToolCall(id=call_id, name=name, arguments=arguments))
        if name_fault or fault:
            malformed[call_id] = name_fault or fault
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


def read_arguments(text: str | None, tool: ToolSpec | None) -> tuple[str, str]:
    """Return the arguments as the text of a JSON object, and what was wrong with them.

    Nothing at all is fine for a tool that has no parameters.
    """
    if not (text or "").strip():
        needed = tool is None or bool(tool.parameters.get("properties"))
        return NO_ARGUMENTS, "The arguments were empty." if needed else ""
    try:
        arguments = json.loads(text or "", parse_constant=_refuse_constant)
        clean = well_formed_tree(arguments)
    except (ValueError, RecursionError) as error:
        return NO_ARGUMENTS, f"The arguments were not valid JSON: {error}"
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        return NO_ARGUMENTS, f"The arguments were not a JSON object but a {kind}."
    # As it came, unless an escape in it stands for half of a surrogate pair.
    same = clean == arguments
    return (text or "") if same else json.dumps(clean, ensure_ascii=False), ""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
