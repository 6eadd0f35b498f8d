"""The newest reply of an agent, and what of it is still to be done."""

from dataclasses import dataclass

from patchwright.core.events.types import (
    AgentStep,
    ConfirmationAsked,
    Event,
    Finish,
    Message,
    ModelReply,
    Observation,
    Reject,
    Source,
    ToolCall,
)


@dataclass(frozen=True)
class PendingCall:
    """A call without a result.

    `action_id` is there when its action was sent off: something may have come of it.
    `asked` is there while a person is to allow it, since the event `asked_id`.
    """

    call: ToolCall
    fault: str | None = None
    action_id: int | None = None
    action: AgentStep | None = None
    asked: ConfirmationAsked | None = None
    asked_id: int = 0


class OpenReply:
    """Follows one agent's events.

    Every call gets exactly one result, whichever worker gives it. `finished` is the
    action by which the agent has ended its work, unless it was told something since;
    `has_ended` stays with the reply that it was in.
    """

    def __init__(self) -> None:
        self.id = 0
        self.text = ""
        self.is_unanswered_text = False
        self.finished: Finish | Reject | None = None
        self.has_ended = False
        self._pending: dict[str, PendingCall] = {}

    def follow(self, event: Event) -> None:
        payload = event.payload
        if isinstance(payload, ModelReply):
            self._begin(event.id, payload)
        elif isinstance(payload, Message) and event.source is Source.SYSTEM:
            # The agent is told something, and goes on.
            self.is_unanswered_text, self.finished = False, None
        elif isinstance(payload, Observation):
            self._close(payload.call_id)
        elif isinstance(payload, ConfirmationAsked):
            self._update(payload.call_id, asked=payload, asked_id=event.id)
        elif isinstance(payload, AgentStep):
            self._update(payload.call_id, action=payload, action_id=event.id)

    def first(self) -> PendingCall | None:
        """Return the next call to be dealt with: they run in order."""
        return next(iter(self._pending.values()), None)

    def _begin(self, event_id: int, reply: ModelReply) -> None:
        self.id, self.text = event_id, reply.text
        self.finished, self.has_ended = None, False
        self.is_unanswered_text = bool(reply.text) and not reply.tool_calls
        self._pending = {
            call.id: PendingCall(call, reply.malformed.get(call.id))
            for call in reply.tool_calls
        }

    def _close(self, call_id: str) -> None:
        closed = self._pending.pop(call_id, None)
        if closed is not None and isinstance(closed.action, Finish | Reject):
            self.finished, self.has_ended = closed.action, True

    def _update(self, call_id: str, **known: object) -> None:
        if call_id in self._pending:
            pending = self._pending[call_id]
            self._pending[call_id] = PendingCall(**{**vars(pending), **known})
