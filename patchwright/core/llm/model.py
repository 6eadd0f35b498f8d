"""The protocol of a model, what is sent to it, and how much fits its context window."""

from dataclasses import dataclass
from typing import Protocol, Self

from pydantic import JsonValue

from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.errors import CallWatch
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


@dataclass(frozen=True)
class Models:
    """One model for each role; where a role has none of its own, it is the main one.

    Without a `judge` a change that no test proves gets no review.
    """

    main: Model
    condense: Model
    delegate: Model
    judge: Model | None = None

    @classmethod
    def only(cls, model: Model) -> Self:
        """Return one model for all that a run needs."""
        return cls(main=model, condense=model, delegate=model)


USUAL_WINDOW = 128_000
USUAL_RESERVE = 8192
# A reserve never takes more than this part of a small window.
LARGEST_RESERVE_PART = 4
LEAST_OUTPUT = 1024
DUE_AT = 0.85
# A token of code holds three to four bytes, so this counts rather too many.
BYTES_PER_TOKEN = 3


def needs_condensing(
    tokens_at_last_reply: int, tail_bytes: int, capabilities: ModelCapabilities
) -> bool:
    """Tell whether the chat should be condensed before the next request.

    `tokens_at_last_reply` is the provider's own count, prompt and reply together;
    `tail_bytes` is what has been added since. To count again would take longer than the
    rest of a step.
    """
    tokens = tokens_at_last_reply + tokens_in_bytes(tail_bytes)
    return tokens >= DUE_AT * prompt_budget(capabilities)


def prompt_budget(capabilities: ModelCapabilities) -> int:
    """Return how many tokens a prompt may have when the reply may be a usual one."""
    window = capabilities.context_window or USUAL_WINDOW
    return window - output_reserve(capabilities)


def output_reserve(capabilities: ModelCapabilities) -> int:
    window = capabilities.context_window or USUAL_WINDOW
    wanted = capabilities.max_output_tokens or USUAL_RESERVE
    return min(wanted, window // LARGEST_RESERVE_PART)


def output_allowed(capabilities: ModelCapabilities, prompt_tokens: int) -> int | None:
    """Return what to allow a reply: the usual limit, or what is left near the edge."""
    window, wanted = capabilities.context_window, capabilities.max_output_tokens
    if window is None or wanted is None:
        return wanted
    left = window - prompt_tokens
    return min(wanted, max(left, LEAST_OUTPUT))


def tokens_in_bytes(size_bytes: int) -> int:
    return size_bytes // BYTES_PER_TOKEN
