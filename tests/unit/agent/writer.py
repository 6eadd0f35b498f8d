"""A log of one run, written event by event and shown to a view."""

from datetime import UTC, datetime

from patchwright.core.agent.view import ChatView
from patchwright.core.events.actions import Message
from patchwright.core.events.observations import ModelReply, Null
from patchwright.core.events.payload import Source, ToolCall
from patchwright.core.events.types import Event, Known, Unknown
from patchwright.core.llm.model import (
    ChatMessage,
    Image,
)

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Writer:
    """Makes the events of one log and shows each to the view."""

    def __init__(self, agent: str = "", images: tuple[Image, ...] = ()) -> None:
        self.view = ChatView("Be good.", agent, images)
        self.said = 0
        self.last_id = 0

    def add(
        self, payload: Known | Unknown, source: Source, cause: int | None = None
    ) -> int:
        event_id = self.last_id + 1
        self.last_id += 1
        event = Event(id=event_id, at=NOON, source=source, cause=cause, payload=payload)
        self.view.add(event)
        return event_id

    def say(self, text: str) -> int:
        self.said += 1
        return self.add(Message(text=text), Source.SYSTEM)

    def reply(self, *call_ids: str, seen_id: int | None = None) -> int:
        calls = tuple(
            ToolCall(id=one, name="think", arguments="{}") for one in call_ids
        )
        payload = ModelReply(text="So.", tool_calls=calls)
        return self.add(payload, Source.AGENT, seen_id)

    def result(self, call_id: str) -> int:
        return self.add(Null(call_id=call_id), Source.ENVIRONMENT)


def texts(messages: tuple[ChatMessage, ...]) -> list[str]:
    return [message.text for message in messages]
