"""Let a model that knows no tools call them all the same: by writing them as text."""

import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence

from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.errors import CallWatch, ModelRequestError
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    Model,
    ModelRequest,
    SystemText,
    ToolResult,
    UserText,
)
from patchwright.core.llm.text_calls import read_text_reply
from patchwright.core.llm.text_form import describe_tools, write_call, write_result
from patchwright.core.llm.tool_calls import read_calls
from patchwright.core.llm.wire import with_all_results

# As Ollama, OpenRouter and vLLM put it.
_NO_TOOLS = re.compile(
    r"does not support (tools|function)|support tool use|enable-auto-tool-choice"
    r"|(tools|function calling).{0,20} not supported",
    re.IGNORECASE,
)


def new_call_id() -> str:
    return f"call_{secrets.token_hex(6)}"


class TextToolModel:
    """Asks a model for calls in writing, always or once it is known to need that."""

    def __init__(
        self, model: Model, *, always: bool, new_id: Callable[[], str] = new_call_id
    ) -> None:
        self.name, self.capabilities = model.name, model.capabilities
        self._model = model
        self._needs_text = always
        self._new_id = new_id

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        if self._writes():
            return self._complete_in_text(request, watch)
        try:
            return self._model.complete(request, watch)
        except ModelRequestError as error:
            if not request.tools or not _NO_TOOLS.search(str(error)):
                raise
            spent = error.usage
        self._needs_text = True
        reply = self._complete_in_text(request, watch)
        return ModelReply(**{**dict(reply), "usage": spent + reply.usage})

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        asked = request_in_text(request) if self._writes() else request
        return self._model.ceiling_usd(asked)

    def _writes(self) -> bool:
        self._needs_text = (
            self._needs_text or not self._model.capabilities().calls_tools
        )
        return self._needs_text

    def _complete_in_text(
        self, request: ModelRequest, watch: CallWatch | None
    ) -> ModelReply:
        reply = self._model.complete(request_in_text(request), watch)
        return reply_with_calls(reply, request, self._new_id)


def request_in_text(request: ModelRequest) -> ModelRequest:
    """Return the request with its tools, calls and results as text.

    What was written for the beginning of a chat stays the same as the chat grows.
    """
    messages = tuple(_merged(_in_text(with_all_results(request.messages))))
    if request.tools:
        messages = _with_tools(messages, describe_tools(request.tools))
    return request.replace(messages=messages, tools=())


def reply_with_calls(
    reply: ModelReply, request: ModelRequest, new_id: Callable[[], str]
) -> ModelReply:
    """Return the reply with the calls that its text holds."""
    if not request.tools:
        return reply
    found = read_text_reply(
        reply.text, request.tools, is_cut_off=reply.stop_reason == "length"
    )
    named = [call.replace(id=new_id()) for call in found.calls]
    read = read_calls(named, request)
    ids = [call.id for call in read.calls]
    faults = {ids[number]: fault for number, fault in found.faults.items()}
    return reply.replace(
        text=found.prose,
        tool_calls=read.calls,
        malformed={**read.malformed, **faults},
        stop_reason="tool_calls" if read.calls else reply.stop_reason,
    )


def _with_tools(
    messages: tuple[ChatMessage, ...], tools: str
) -> tuple[ChatMessage, ...]:
    first = messages[0] if messages else None
    if isinstance(first, SystemText):
        return (SystemText(text=f"{first.text}\n\n{tools}"), *messages[1:])
    return (SystemText(text=tools), *messages)


def _in_text(messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    names: dict[str, str] = {}
    for message in messages:
        match message:
            case AssistantTurn():
                names = {call.id: call.name for call in message.tool_calls}
                yield _written_turn(message)
            case ToolResult():
                yield UserText(text=write_result(message, names[message.call_id]))
            case SystemText() | UserText():
                yield message


def _written_turn(turn: AssistantTurn) -> AssistantTurn:
    texts = [turn.text, *map(_written_call, turn.tool_calls)]
    text = "\n\n".join(filter(None, texts))
    return turn.replace(text=text, tool_calls=())


def _written_call(call: ToolCall) -> str:
    return write_call(call.name, json.loads(call.arguments))


def _merged(messages: Iterator[ChatMessage]) -> Iterator[ChatMessage]:
    """Join what the user says in a row: many templates want the roles to alternate."""
    waiting: UserText | None = None
    for message in messages:
        if isinstance(message, UserText):
            waiting = _joined(waiting, message) if waiting else message
            continue
        if waiting:
            yield waiting
        waiting = None
        yield message
    if waiting:
        yield waiting


def _joined(first: UserText, second: UserText) -> UserText:
    text = f"{first.text}\n\n{second.text}"
    return UserText(text=text, images=(*first.images, *second.images))
