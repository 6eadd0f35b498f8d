"""What a tool answered, as text that fits into a conversation."""

import json
from typing import Final, assert_never

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from patchwright.core.text.cut import truncate_middle

MAX_RESULT_CHARS: Final = 20_000
_KILO: Final = 1000


def result_text(result: CallToolResult) -> str:
    """Return the text, and a mark in brackets for everything that is none."""
    parts = [_shown(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return truncate_middle("\n".join(parts), MAX_RESULT_CHARS)


def _shown(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent():
            return f"[image {block.mime_type}, {_size(block.data)}]"
        case AudioContent():
            return f"[audio {block.mime_type}, {_size(block.data)}]"
        case ResourceLink():
            return f"[link {block.name}: {block.uri}]"
        case EmbeddedResource():
            return _resource(block.resource)
        case _:
            assert_never(block)


def _resource(resource: TextResourceContents | BlobResourceContents) -> str:
    match resource:
        case TextResourceContents():
            return f"[resource {resource.uri}]\n{resource.text}"
        case BlobResourceContents():
            kind = resource.mime_type or "of unknown type"
            return f"[resource {resource.uri}, {kind}, {_size(resource.blob)}]"
        case _:
            assert_never(resource)


def _size(base64_text: str) -> str:
    count = len(base64_text) * 3 // 4
    return f"{count} bytes" if count < _KILO else f"{count // _KILO} kB"
