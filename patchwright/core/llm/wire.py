"""Write a request as the OpenAI chat protocol wants it, always with a valid history."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from pydantic import JsonValue

from patchwright.core.events.types import ToolCall
from patchwright.core.llm.history import with_all_results, without_duplicate_calls
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    Image,
    SystemText,
    ToolResult,
    ToolSpec,
    UserText,
)
from patchwright.core.llm.reasoning import Block, call_keys, message_keys
from patchwright.core.text.surrogates import well_formed, well_formed_tree

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
