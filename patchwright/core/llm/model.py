"""The protocol of a model, and what is sent to it."""

from typing import Protocol

from pydantic import JsonValue

from patchwright.core.events.types import ModelReply, ToolCall
from patchwright.core.llm.budget import CallWatch
from patchwright.core.types.base import Value


class SystemText(Value):
    text: str


class Image(Value):
    """A picture; `data` is base64, `name` what the text beside it calls it."""

    media_type: str
    data: str
    name: str = ""


class UserText(Value):
    text: str
    images: tuple[Image, ...] = ()


class AssistantTurn(Value):
    """An earlier reply, repeated as it came.

    Its reasoning is left out where another model than `model` is asked; empty means
    that it is the same one.
    """

    model: str = ""
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[dict[str, JsonValue], ...] = ()


class ToolResult(Value):
    call_id: str
    text: str


ChatMessage = SystemText | UserText | AssistantTurn | ToolResult


class ToolSpec(Value):
    """A tool as the model sees it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


class ModelRequest(Value):
    """One call. `deadline_s` bounds it with all its retries, in seconds from now.

    All its tries together take no more tokens than `tokens_left`, prompts included.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    deadline_s: float = 600.0
    tokens_left: int | None = None


class ModelCapabilities(Value):
    """What a model can take. None means that nobody knows."""

    context_window: int | None = None
    max_output_tokens: int | None = None
    sees_images: bool = False
    calls_tools: bool = True


class Model(Protocol):
    """Something that answers a chat with text or tool calls.

    Raises the errors of `core.llm.errors` and `core.llm.budget`, and none of a
    vendor's. It reserves each try with the watch before it is made.
    """

    name: str

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply: ...

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        """Return the most one try can cost, or None when no price is known."""
        ...

    def capabilities(self) -> ModelCapabilities:
        """Return what the model can take; may import what a call imports."""
        ...
