"""The events as the model sees them."""

from collections.abc import Iterable

from patchwright.core.agent.render import observation_text
from patchwright.core.events.types import (
    Event,
    Message,
    ModelReply,
    Observation,
    Source,
)
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    SystemText,
    ToolResult,
    UserText,
)


class View:
    """A growing list of chat messages; what is in it never changes or moves.

    Providers cache the part of a request that equals the one before, so a message that
    arrives while the model is answering goes after that answer, not before it: a
    reply's `cause` is the last event its request had shown. Words of people are shown
    once the system has judged and repeated them.
    """

    def __init__(self, system: str) -> None:
        self._settled: list[ChatMessage] = [SystemText(text=system)]
        self._waiting: list[Event] = []
        self._results: dict[str, ToolResult | None] = {}
        self.last_id = 0

    def extend(self, events: Iterable[Event]) -> None:
        for event in events:
            self._add(event)
            self.last_id = event.id

    def messages(self) -> tuple[ChatMessage, ...]:
        """Return the chat so far; every tool call in it has its result."""
        return (*self._settled, *self._open_results(), *self._waiting_texts())

    def _add(self, event: Event) -> None:
        payload = event.payload
        if isinstance(payload, ModelReply):
            self._settle(event.cause or event.id)
            self._settled.append(
                AssistantTurn(
                    model=payload.model,
                    text=payload.text,
                    tool_calls=payload.tool_calls,
                    reasoning=payload.reasoning,
                )
            )
            self._results = {call.id: None for call in payload.tool_calls}
        elif isinstance(payload, Message) and event.source is Source.SYSTEM:
            self._waiting.append(event)
        elif isinstance(payload, Observation) and payload.call_id in self._results:
            text = observation_text(payload)
            self._results[payload.call_id] = ToolResult(
                call_id=payload.call_id, text=text
            )

    def _settle(self, seen_id: int) -> None:
        """Fix the place of everything that the request up to `seen_id` has shown."""
        self._settled.extend(self._open_results())
        shown = [event for event in self._waiting if event.id <= seen_id]
        self._settled.extend(_text_of(event) for event in shown)
        self._waiting = self._waiting[len(shown) :]
        self._results = {}

    def _open_results(self) -> list[ToolResult]:
        return [
            result
            or ToolResult(call_id=call_id, text="[it is not known what came of it]")
            for call_id, result in self._results.items()
        ]

    def _waiting_texts(self) -> list[UserText]:
        return [_text_of(event) for event in self._waiting]


def _text_of(event: Event) -> UserText:
    assert isinstance(event.payload, Message)  # noqa: S101 - only those wait
    return UserText(text=event.payload.text)
