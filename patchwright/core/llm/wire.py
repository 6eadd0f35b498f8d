"""A request in the OpenAI chat format, always with a valid history."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from pydantic import JsonValue

from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    Image,
    SystemText,
    ToolResult,
    ToolSpec,
    UserText,
)
from patchwright.core.text.strings import well_formed, well_formed_tree
from patchwright.core.types.base import Value

MISSING_RESULT = "(No result of this call was recorded.)"
ORPHAN_RESULT = "(The result of an earlier call that is not shown any more:)\n"


def with_all_results(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
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


def without_duplicate_calls(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Join the calls of one reply that are the same, and their results.

    For Gemini before 3, litellm leaves such calls out, and the results would be too
    many. The messages must be `answered`.
    """
    joined: list[ChatMessage] = []
    twins: dict[str, str] = {}
    places: dict[str, int] = {}
    for message in messages:
        if isinstance(message, AssistantTurn):
            twins = _twins(message)
            kept = tuple(call for call in message.tool_calls if call.id not in twins)
            joined.append(message.replace(tool_calls=kept))
        elif isinstance(message, ToolResult) and message.call_id in twins:
            at = places[twins[message.call_id]]
            joined[at] = _both(joined[at], message)
        else:
            if isinstance(message, ToolResult):
                places[message.call_id] = len(joined)
            joined.append(message)
    return joined


def _twins(turn: AssistantTurn) -> dict[str, str]:
    """Return the ids of calls that an earlier one equals, and the earlier one's."""
    first: dict[tuple[str, str], str] = {}
    twins: dict[str, str] = {}
    for call in turn.tool_calls:
        arguments = json.dumps(json.loads(call.arguments), sort_keys=True)
        same = first.setdefault((call.name, arguments), call.id)
        if same != call.id:
            twins[call.id] = same
    return twins


def _both(first: ChatMessage, second: ToolResult) -> ChatMessage:
    text = f"{first.text}\n\n(And once more:)\n{second.text}"
    return first.replace(text=text)


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


Block = dict[str, JsonValue]

THINKING = ("thinking", "redacted_thinking")
# A block of ours: what goes back with each tool call, by the call's id.
WITH_CALLS = "with_calls"
_SIGNATURES = "thought_signatures"


class SentReasoning(Value):
    """What providers put into a message beside its words and calls."""

    thinking_blocks: list[Block] | None = None
    reasoning_content: str | None = None
    provider_specific_fields: Block | None = None


def read_reasoning(
    sent: SentReasoning, call_extras: Mapping[str, Block]
) -> tuple[Block, ...]:
    """Return only the blocks that the provider needs back.

    Signed thinking is unchanged; a block under another key of the message is sent under
    that key again.
    """
    by_call: JsonValue = dict(call_extras)
    signed: Block = {"type": WITH_CALLS, "value": by_call}
    return (*_of_the_message(sent), *([signed] if call_extras else []))


def _of_the_message(sent: SentReasoning) -> Sequence[Block]:
    fields = sent.provider_specific_fields or {}
    if signatures := fields.get(_SIGNATURES):
        # Gemini's thoughts are for readers; it knows its own by the signatures.
        # https://ai.google.dev/gemini-api/docs/thought-signatures
        value: JsonValue = {_SIGNATURES: signatures}
        return [{"type": "provider_specific_fields", "value": value}]
    if sent.thinking_blocks:
        return sent.thinking_blocks
    if details := fields.get("reasoning_details"):
        return [{"type": "reasoning_details", "value": details}]
    if sent.reasoning_content:
        return [{"type": "reasoning_content", "value": sent.reasoning_content}]
    return []


def message_keys(blocks: Sequence[Block]) -> Block:
    """Return what the blocks add to a message, under the keys they came with."""
    thinking: list[JsonValue] = [
        block for block in blocks if block.get("type") in THINKING
    ]
    keys: Block = {"thinking_blocks": thinking} if thinking else {}
    for block in blocks:
        if block.get("type") not in (*THINKING, WITH_CALLS):
            keys[str(block.get("type"))] = well_formed_tree(block.get("value"))
    return keys


def call_keys(blocks: Sequence[Block], call_id: str) -> Block:
    """Return what the blocks add to a tool call."""
    for block in blocks:
        by_call = block.get("value")
        if block.get("type") == WITH_CALLS and isinstance(by_call, dict):
            keys = by_call.get(call_id)
            return keys if isinstance(keys, dict) else {}
    return {}


def is_thinking(blocks: Sequence[Block]) -> bool:
    return any(block.get("type") in THINKING for block in blocks)


Wire = dict[str, JsonValue]

EMPTY_TEXT = "(empty)"
CACHE_MARK: JsonValue = {"type": "ephemeral"}


def wire_messages(
    messages: Sequence[ChatMessage],
    model: str,
    *,
    cache_marks: bool,
    images: bool = False,
) -> list[Wire]:
    """Translate the messages for `model`, with what it can read of marks and images.

    With cache marks, every text is a list of parts, so that a message reads the same
    whether it carries a mark or not: the beginning of a request never changes. Where a
    model sees no images, a line says so.
    """
    shown = messages if images else [_without_images(message) for message in messages]
    valid = with_all_results(shown)
    if "gemini" in model:
        valid = without_duplicate_calls(valid)
    wired = [_message(message, model) for message in valid]
    if cache_marks:
        for message in wired:
            _split_in_parts(message)
        _mark_for_cache(wired)
    return wired


def wire_tools(tools: Iterable[ToolSpec]) -> list[Wire]:
    return [
        {"type": "function", "function": well_formed_tree(tool.model_dump())}
        for tool in tools
    ]


def wants_cache_marks(model: str) -> bool:
    """Tell whether the provider caches only what is marked: Claude does.

    https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
    """
    provider, _, name = model.partition("/")
    return "claude" in (name or provider) and provider != "openai"


def _without_images(message: ChatMessage) -> ChatMessage:
    if not isinstance(message, UserText) or not message.images:
        return message
    left_out = "\n".join(
        f"(Image {image.name or number} could not be shown: this model sees none.)"
        for number, image in enumerate(message.images, start=1)
    )
    return UserText(text=f"{message.text}\n\n{left_out}".lstrip())


def _message(message: ChatMessage, model: str) -> Wire:
    match message:
        case SystemText(text=text):
            return {"role": "system", "content": _text(text)}
        case UserText(text=text, images=images):
            return {"role": "user", "content": _content(text, images)}
        case ToolResult(call_id=call_id, text=text):
            return {"role": "tool", "tool_call_id": call_id, "content": _text(text)}
        case AssistantTurn():
            return _assistant(message, model)
        case _:
            assert_never(message)


def _content(text: str, images: Sequence[Image]) -> JsonValue:
    if not images:
        return _text(text)
    return [{"type": "text", "text": _text(text)}, *map(_image, images)]


def _image(image: Image) -> JsonValue:
    url = f"data:{image.media_type};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _assistant(turn: AssistantTurn, model: str) -> Wire:
    """Repeat a reply; its reasoning is for the model it came from alone."""
    reasoning = turn.reasoning if turn.model in ("", model) else ()
    content: Wire = {"role": "assistant", "content": _text(turn.text)}
    if turn.tool_calls:
        content["tool_calls"] = [_call(call, reasoning) for call in turn.tool_calls]
        if not turn.text:
            content["content"] = None
    return {**content, **message_keys(reasoning)}


def _call(call: ToolCall, reasoning: Sequence[Block]) -> JsonValue:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
        **call_keys(reasoning, call.id),
    }


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
