"""Write a request as the OpenAI chat protocol wants it, always with a valid history."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from pydantic import JsonValue

from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    SystemText,
    ToolResult,
    ToolSpec,
    UserText,
)
from patchwright.core.text.surrogates import well_formed, well_formed_tree

Wire = dict[str, JsonValue]

MISSING_RESULT = "(No result of this call was recorded.)"
ORPHAN_RESULT = "(The result of an earlier call that is not shown any more:)\n"
EMPTY_TEXT = "(empty)"
CACHE_MARK: JsonValue = {"type": "ephemeral"}
THINKING = ("thinking", "redacted_thinking")


def wire_messages(
    messages: Sequence[ChatMessage], model: str, *, cache_marks: bool
) -> list[Wire]:
    """Translate the messages for `model`, with cache marks where a provider reads them.

    With marks, every text is a list of parts, so that a message reads the same whether
    it carries a mark or not: the beginning of a request never changes.
    """
    wired = [_message(message, model) for message in answered(messages)]
    if cache_marks:
        for message in wired:
            _split_in_parts(message)
        _mark_for_cache(wired)
    return wired


def wire_tools(tools: Iterable[ToolSpec]) -> list[Wire]:
    return [{"type": "function", "function": tool.model_dump()} for tool in tools]


def wants_cache_marks(model: str) -> bool:
    """Tell whether the provider caches only what is marked: Claude does.

    https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
    """
    provider, _, name = model.partition("/")
    return "claude" in (name or provider) and provider != "openai"


def answered(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with exactly one result, in order, after each tool call.

    Providers refuse any other history, and with it the rest of the run.
    """
    repaired: list[ChatMessage] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if isinstance(message, ToolResult):
            repaired.append(_orphan(message))
            continue
        repaired.append(message)
        if isinstance(message, AssistantTurn) and message.tool_calls:
            results = _results_at(messages, at)
            at += len(results)
            repaired.extend(_pair(message, results))
    return repaired


def _results_at(messages: Sequence[ChatMessage], start: int) -> list[ToolResult]:
    results: list[ToolResult] = []
    for message in messages[start:]:
        if not isinstance(message, ToolResult):
            break
        results.append(message)
    return results


def _pair(turn: AssistantTurn, results: list[ToolResult]) -> list[ChatMessage]:
    first: dict[str, ToolResult] = {}
    extra: list[ChatMessage] = []
    called = {call.id for call in turn.tool_calls}
    for result in results:
        if result.call_id in called and result.call_id not in first:
            first[result.call_id] = result
        else:
            extra.append(_orphan(result))
    paired = [
        first.get(call.id) or ToolResult(call_id=call.id, text=MISSING_RESULT)
        for call in turn.tool_calls
    ]
    return [*paired, *extra]


def _orphan(result: ToolResult) -> UserText:
    return UserText(text=ORPHAN_RESULT + result.text)


def _message(message: ChatMessage, model: str) -> Wire:
    match message:
        case SystemText(text=text):
            return {"role": "system", "content": _text(text)}
        case UserText(text=text):
            return {"role": "user", "content": _text(text)}
        case ToolResult(call_id=call_id, text=text):
            return {"role": "tool", "tool_call_id": call_id, "content": _text(text)}
        case AssistantTurn():
            return _assistant(message, model)
        case _:
            assert_never(message)


def _assistant(turn: AssistantTurn, model: str) -> Wire:
    content: Wire = {"role": "assistant", "content": _text(turn.text)}
    if turn.tool_calls:
        content["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in turn.tool_calls
        ]
        if not turn.text:
            content["content"] = None
    if turn.model in ("", model):
        content.update(_reasoning(turn))
    return content


def _reasoning(turn: AssistantTurn) -> Wire:
    """Return the reasoning under the keys it came with, block for block."""
    thinking: list[JsonValue] = [
        block for block in turn.reasoning if block.get("type") in THINKING
    ]
    keys: Wire = {"thinking_blocks": thinking} if thinking else {}
    for block in turn.reasoning:
        if block.get("type") not in THINKING:
            keys[str(block.get("type"))] = well_formed_tree(block.get("value"))
    return keys


def _text(text: str) -> str:
    return well_formed(text) or EMPTY_TEXT


def _split_in_parts(message: Wire) -> None:
    if isinstance(message["content"], str):
        message["content"] = [{"type": "text", "text": message["content"]}]


def _mark_for_cache(messages: list[Wire]) -> None:
    for message in (messages[0], messages[-1]):
        content = message["content"]
        if isinstance(content, list) and isinstance(content[-1], dict):
            content[-1]["cache_control"] = CACHE_MARK
