"""What can be wrong with a server or a call, in words for the model."""

from collections.abc import Iterator
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT
from pydantic import ValidationError

from patchwright.core.text.cut import truncate_middle

MAX_WORDS: Final = 1000


class CallError(Exception):
    """A call came to nothing, and the server lives; `reason` is a short code."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason


class ServerLostError(Exception):
    """The server ended, or cannot be reached; the message says what is known."""


def map_error(error: BaseException, complaint: str) -> CallError | ServerLostError:
    """Say what an error of the library means; `complaint` is what the link knows."""
    first = next(_leaves(error))
    match first:
        case CallError():
            return first
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return ServerLostError(_words(complaint or first.message))
        # The library has no code of its own for a session that the server ended.
        case MCPError(code=code, message="Session terminated") if (
            code == INVALID_REQUEST
        ):
            return ServerLostError("it has forgotten the session")
        case MCPError(code=code) if code == REQUEST_TIMEOUT:
            return CallError("mcp-timeout", "it did not answer in time")
        case MCPError():
            known = f"{first.message} ({complaint})" if complaint else first.message
            return CallError("mcp-error", _words(known))
        case ValidationError():
            text = "its answer does not have the form that the protocol demands"
            return CallError("mcp-bad-answer", text)
        case _:
            return ServerLostError(_words(complaint or str(first) or repr(first)))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _words(text: str) -> str:
    return truncate_middle(text.strip(), MAX_WORDS)
