"""What a tool answered, or what went wrong, as text for the model."""

import json
from collections.abc import Iterator
from typing import Final, assert_never

from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
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
from pydantic import ValidationError

from patchwright.core.text.strings import truncate_middle

MAX_WORDS: Final = 1000


class CallError(Exception):
    """A call came to nothing, and the server lives; `reason` is a short code."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason


class ServerLostError(Exception):
    """The server ended, or cannot be reached; the message says what is known."""


def map_error(error: BaseException, link_error: str) -> CallError | ServerLostError:
    """Say what an error of the library means; `link_error` is what the link knows."""
    first = next(_leaves(error))
    match first:
        case CallError():
            return first
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return ServerLostError(_words(link_error or first.message))
        # The library has no code of its own for a session that the server ended.
        case MCPError(code=code, message="Session terminated") if (
            code == INVALID_REQUEST
        ):
            return ServerLostError("it has forgotten the session")
        case MCPError(code=code) if code == REQUEST_TIMEOUT:
            return CallError("mcp-timeout", "it did not answer in time")
        case MCPError():
            known = f"{first.message} ({link_error})" if link_error else first.message
            return CallError("mcp-error", _words(known))
        case ValidationError():
            text = "its answer does not have the form that the protocol demands"
            return CallError("mcp-bad-answer", text)
        case _:
            return ServerLostError(_words(link_error or str(first) or repr(first)))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _words(text: str) -> str:
    return truncate_middle(text.strip(), MAX_WORDS)


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
