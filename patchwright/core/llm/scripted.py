"""A model that repeats recorded replies, so that a run costs nothing and needs no key.

A recording is a JSON file:

    {
      "name": "example",
      "replies": [
        {"text": "I look around.",
         "calls": [{"name": "shell", "arguments": {"command": "ls"}}]},
        {"calls": [{"name": "finish", "arguments": {"summary": "Done."}}]}
      ]
    }

`text` and `calls` may each be left out. The replies are given in order, whatever is
asked, so a recording fits the task that it was made of and no other.
"""

import json
from pathlib import Path

from pydantic import JsonValue, ValidationError

from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.errors import CallWatch, ModelError
from patchwright.core.llm.model import (
    AssistantTurn,
    ModelCapabilities,
    ModelRequest,
)
from patchwright.core.types.base import Value
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.work import NO_USAGE


class RecordedCall(Value):
    name: str
    arguments: dict[str, JsonValue] = {}


class RecordedReply(Value):
    text: str = ""
    calls: tuple[RecordedCall, ...] = ()


class RecordedReplies(Value):
    name: str
    replies: tuple[RecordedReply, ...]


class RecordingEndedError(ModelError):
    """The run went on where the recording ends: it was made of another task."""

    reason = "recording-ended"


def load_recording(path: Path) -> RecordedReplies:
    try:
        return RecordedReplies.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"The recording cannot be read: {error}") from error
    except ValidationError as error:
        raise SettingsError(f"{path} is not a recording of a model: {error}") from error


class RecordedModel:
    """Repeats a recording; its name says so wherever a model is named.

    Where it is in the recording is read off the request, so that a run which another
    worker goes on with, or several at once, can share one recording.
    """

    def __init__(self, recording: RecordedReplies) -> None:
        self.name = f"recorded:{recording.name}"
        self._replies = recording.replies

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        del watch
        number = sum(isinstance(turn, AssistantTurn) for turn in request.messages)
        if number >= len(self._replies):
            raise RecordingEndedError(
                f"{self.name} has {len(self._replies)} replies, and the run asks for "
                "more. Set `llm.model` to use a real model."
            )
        return _reply(self._replies[number], number, self.name)

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        del request
        return 0.0

    def capabilities(self) -> ModelCapabilities:
        return ModelCapabilities()


def _reply(recorded: RecordedReply, number: int, model: str) -> ModelReply:
    calls = tuple(
        ToolCall(
            id=f"call_{number}_{index}",
            name=call.name,
            arguments=json.dumps(call.arguments, ensure_ascii=False),
        )
        for index, call in enumerate(recorded.calls)
    )
    return ModelReply(
        model=model,
        text=recorded.text,
        tool_calls=calls,
        stop_reason="tool_calls" if calls else "stop",
        usage=NO_USAGE,
    )
