"""What Anthropic refuses, before its model reads a word.

https://docs.anthropic.com/en/api/messages
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any

ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
BLOCKS = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
THINKING = ("thinking", "redacted_thinking")
MEDIA_TYPES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
MAX_CACHE_MARKS = 4
MIN_THINKING_TOKENS = 1024

Json = dict[str, Any]


def find_fault(request: Json, thought: list[Json]) -> str | None:
    """Return why the request is refused; `thought` must come back as it was given."""
    try:
        json.dumps(request, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "The request body is not valid JSON: no low surrogate in string"
    return (
        _fault_in_limits(request)
        or _fault_in_tools(request.get("tools", []))
        or _fault_in_messages(request.get("messages") or [])
        or _fault_in_thoughts(request, thought)
    )


def _fault_in_limits(request: Json) -> str | None:
    limit = request.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        return "max_tokens: Field required"
    if json.dumps(request).count('"cache_control"') > MAX_CACHE_MARKS:
        return "A maximum of 4 blocks with cache_control may be provided."
    budget = request.get("thinking", {}).get("budget_tokens")
    if budget is None:
        return None
    if not MIN_THINKING_TOKENS <= budget < limit:
        return "`max_tokens` must be greater than `thinking.budget_tokens`."
    if request.get("temperature", 1) != 1:
        return "`temperature` may only be set to 1 when thinking is enabled."
    return None


def _fault_in_tools(tools: list[Json]) -> str | None:
    for tool in tools:
        if not TOOL_NAME.fullmatch(tool.get("name", "")):
            return "tools.0.custom.name: String should match pattern"
        if tool.get("input_schema", {}).get("type") != "object":
            return "tools.0.custom.input_schema.type: Field required"
    return None


def _fault_in_messages(messages: list[Json]) -> str | None:
    if not messages:
        return "messages: at least one message is required"
    for number, message in enumerate(messages):
        role = ("user", "assistant")[number % 2]
        if message.get("role") != role:
            return "messages: roles must alternate, and the first must be user"
        if fault := next(filter(None, map(_fault_in, _blocks(message))), None):
            return fault
        if {block["type"] for block in _blocks(message)} - BLOCKS[role]:
            return f"messages.{number}: unexpected block for the role {role}"
    return _fault_in_pairs(messages)


def _fault_in(block: Json) -> str | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return None if text.strip() else "text content blocks must be non-empty"
        case {"type": "tool_use", "id": str(id_), "input": dict(), "name": str(name)}:
            is_good = ID.fullmatch(id_) and TOOL_NAME.fullmatch(name)
            return None if is_good else "tool_use.id: String should match pattern"
        case {"type": "tool_result", "tool_use_id": str()}:
            return None
        case {"type": "image", "source": {"type": "base64"}}:
            return _fault_in_image(block["source"])
        case {"type": "thinking", "signature": str(), "thinking": str()}:
            return None
        case {"type": "redacted_thinking", "data": str()}:
            return None
        case _:
            return f"messages: {block.get('type')}: Field required"


def _fault_in_image(source: Json) -> str | None:
    try:
        base64.b64decode(source.get("data", "-"), validate=True)
    except binascii.Error:
        return "image.source.base64: invalid base64 data"
    known = source.get("media_type") in MEDIA_TYPES
    return None if known else "image.source.base64.media_type: unknown"


def _fault_in_pairs(messages: list[Json]) -> str | None:
    seen: set[str] = set()
    used: list[str] = []
    for message in messages:
        answered = [b["tool_use_id"] for b in _blocks(message) if "tool_use_id" in b]
        if sorted(answered) != sorted(used):
            return "`tool_use` ids were found without `tool_result` blocks, or reverse"
        kinds = [block["type"] for block in _blocks(message)]
        if kinds[: len(answered)] != ["tool_result"] * len(answered):
            return "tool_result blocks must come first in the content"
        used = [b["id"] for b in _blocks(message) if b["type"] == "tool_use"]
        if seen & set(used) or len(set(used)) < len(used):
            return "`tool_use` ids must be unique"
        seen.update(used)
    return "the last `tool_use` has no `tool_result`" if used else None


def _fault_in_thoughts(request: Json, thought: list[Json]) -> str | None:
    turns = [m for m in request["messages"] if m["role"] == "assistant"]
    sent = [block for turn in turns for block in _blocks(turn)]
    if any(block not in sent for block in thought):
        return "thinking blocks in the latest assistant message must not change"
    if "thinking" not in request or not turns:
        return None
    kinds = [block["type"] for block in _blocks(turns[-1])]
    if "tool_use" in kinds and kinds[0] not in THINKING:
        return "Expected `thinking` or `redacted_thinking`, but found `tool_use`."
    return None


def _blocks(message: Json) -> Iterator[Json]:
    content = message["content"]
    yield from (
        [{"type": "text", "text": content}] if isinstance(content, str) else content
    )
