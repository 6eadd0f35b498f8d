"""What a strict provider refuses, before its model reads a word."""

import json
import re
from dataclasses import dataclass
from typing import Any

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
IMAGE_URL = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*\Z")
MESSAGE_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "reasoning_content"},
    "tool": {"role", "content", "tool_call_id"},
}


@dataclass(frozen=True)
class Refusal:
    status: int
    message: str
    code: str = ""


def find_fault(request: dict[str, Any], models: frozenset[str]) -> Refusal | None:
    """Return why the request is refused, if it is; no `models` means any model."""
    model = request.get("model")
    if not isinstance(model, str) or (models and model not in models):
        return Refusal(404, f"The model `{model}` does not exist", "model_not_found")
    message = (
        _fault_in_text(request)
        or _fault_in_limits(request)
        or _fault_in_tools(request.get("tools"))
        or _fault_in_messages(request.get("messages"))
    )
    return Refusal(400, message) if message else None


def _fault_in_text(request: dict[str, Any]) -> str | None:
    try:
        json.dumps(request, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "Invalid body: failed to parse JSON value: lone surrogate"
    return None


def _fault_in_limits(request: dict[str, Any]) -> str | None:
    for key in ("max_tokens", "max_completion_tokens"):
        limit = request.get(key)
        if limit is None:
            continue
        if not isinstance(limit, int) or limit < 1:
            return f"Invalid '{key}': integer below minimum value"
    if request.get("stream"):
        return "This provider does not stream"
    return None


def _fault_in_tools(tools: object) -> str | None:
    if tools is None:
        return None
    if not isinstance(tools, list) or not tools:
        return "Invalid 'tools': empty array"
    for tool in tools:
        function = tool.get("function", {})
        if not TOOL_NAME.fullmatch(function.get("name", "")):
            return "Invalid 'tools[].function.name': string does not match pattern"
        if function.get("parameters", {}).get("type") != "object":
            return "Invalid schema for function: schema must be of type 'object'"
    return None


def _fault_in_messages(messages: object) -> str | None:
    if not isinstance(messages, list) or not messages:
        return "Invalid 'messages': empty array"
    open_calls: list[str] = []
    for message in messages:
        role = message.get("role")
        if fault := _fault_in_message(message):
            return fault
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                return (
                    "messages with role 'tool' must be a response to a preceding "
                    "message with 'tool_calls'"
                )
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            break
        open_calls = [call["id"] for call in message.get("tool_calls", [])]
    if open_calls:
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages "
            f"responding to each 'tool_call_id'. Not answered: {', '.join(open_calls)}"
        )
    return None


def _fault_in_message(message: dict[str, Any]) -> str | None:
    role = message.get("role")
    if role not in MESSAGE_KEYS:
        return f"Invalid value: '{role}' is no role"
    if unknown := message.keys() - MESSAGE_KEYS[role]:
        return f"Unrecognized message fields: {sorted(unknown)}"
    calls = message.get("tool_calls")
    content = _without_images(message)
    if not _is_text(content) and not (calls and role == "assistant"):
        return f"Invalid type for 'content' of a message with role '{role}'"
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        return "Missing required parameter: 'tool_call_id'"
    return _fault_in_calls(calls) if calls is not None else None


def _without_images(message: dict[str, Any]) -> object:
    """Return the content without the images, which a user may send beside text."""
    content = message.get("content")
    if message.get("role") != "user" or not isinstance(content, list):
        return content
    return [part for part in content if not _is_image(part)]


def _is_image(part: dict[str, Any]) -> bool:
    url = part.get("image_url", {}).get("url", "")
    return part.get("type") == "image_url" and bool(IMAGE_URL.match(url))


def _is_text(content: object) -> bool:
    if isinstance(content, list):
        return bool(content) and all(part.get("type") == "text" for part in content)
    return isinstance(content, str)


def _fault_in_calls(calls: list[dict[str, Any]]) -> str | None:
    ids = [call.get("id") for call in calls]
    if not calls or not all(ids) or len(set(ids)) < len(ids):
        return "Invalid 'tool_calls': every call needs an id of its own"
    for call in calls:
        function = call.get("function", {})
        if not TOOL_NAME.fullmatch(function.get("name") or ""):
            return "Invalid 'tool_calls[].function.name': does not match pattern"
        try:
            arguments = json.loads(function.get("arguments"))
        except (TypeError, ValueError):
            return "Invalid 'tool_calls[].function.arguments': not valid JSON"
        if not isinstance(arguments, dict):
            return "Invalid 'tool_calls[].function.arguments': not an object"
    return None
