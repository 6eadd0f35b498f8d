"""A log that repeats what people said in a recorded run, at the same places."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog


def is_steering(event: ev.Event) -> bool:
    """Return whether a person said or asked for this, in any name."""
    payload = event.payload
    if isinstance(payload, ev.Message):
        return event.source is ev.Source.USER
    return isinstance(payload, ev.Steering) and event.cause is None


def accepted_steering(events: Sequence[ev.Event]) -> dict[int, ev.Event]:
    """Return how each message was handled, by the id of its event."""
    return {
        event.cause: event
        for event in events
        if event.source is ev.Source.SYSTEM
        and event.cause is not None
        and isinstance(event.payload, ev.Steering)
    }


def in_order_noticed(events: Sequence[ev.Event]) -> list[ev.Event]:
    """Put messages that came during a model call after its reply, unless handled.

    Which of the two came first is chance then, and changed nothing.
    """
    places = {event.id: (event.id, 0) for event in events}
    steering = accepted_steering(events)
    messages: list[ev.Event] = []
    for event in events:
        if is_steering(event):
            messages.append(event)
        elif isinstance(event.payload, ev.ModelReply):
            seen_id = event.cause or 0
            for one in messages:
                is_heard = one.id in steering and steering[one.id].id < event.id
                if one.id > seen_id and not is_heard:
                    places[one.id] = (event.id, one.id)
            messages.clear()
    return sorted(events, key=lambda event: places[event.id])


AcceptedSteering = ev.Message | ev.ChangeState | ev.RaiseLimits
# Handling takes milliseconds; later it will not happen any more.
WAIT_LIMIT_S: Final = 5.0
_CANCELLING_KINDS: Final = frozenset({ev.AgentState.STOPPED, ev.AgentState.PAUSED})


@dataclass(frozen=True)
class ScriptedInput:
    """A message that came after so many steps of the run, and how it was handled."""

    steps_before: int
    event: ev.Event
    accepted: AcceptedSteering | None


class ScriptedUser:
    """Passes on to a log what is written, and writes what people said in between.

    `was_answered` tells whether somebody has said something since the run began to
    wait for it.
    """

    def __init__(
        self,
        log: EventLog,
        recorded: Sequence[ev.Event],
        *,
        wait_limit_s: float = WAIT_LIMIT_S,
    ) -> None:
        self._log, self._answer_limit_s = log, wait_limit_s
        self._inputs = deque(find_scripted_inputs(recorded))
        self._said: dict[int, ScriptedInput] = {}
        self._unjudged: set[int] = set()
        self._cancels = False
        self._steps_taken = 0
        self._changed = threading.Condition(threading.RLock())
        self.was_answered = False

    def filter_steering(self, event: ev.Event) -> AcceptedSteering | None:
        """Handle a message as it was handled in the recorded run."""
        scripted = self._said.get(event.id)
        return scripted.accepted if scripted else None

    def wait_until_accepted(self) -> bool:
        """Wait until all messages are handled; return whether the work goes on.

        A model that answers at once would otherwise now and then be faster.
        """
        with self._changed:
            cancelled = self._cancels
            self._changed.wait_for(
                lambda: not self._unjudged and not self._cancels, self._answer_limit_s
            )
        return not cancelled

    def append(
        self, source: ev.Source, payload: ev.Known, cause: int | None = None
    ) -> ev.Event:
        with self._changed:
            event = self._log.append(source, payload, cause)
            self._note(event)
            self._steps_taken += is_own_step(event)
            while self._inputs and self._inputs[0].steps_before <= self._steps_taken:
                self._say(self._inputs.popleft())
            self._changed.notify_all()
        return event

    def read(
        self,
        start_id: int = 1,
        end_id: int | None = None,
        *,
        limit: int | None = None,
        reverse: bool = False,
        kinds: frozenset[str] | None = None,
    ) -> Sequence[ev.Event]:
        return self._log.read(
            start_id, end_id, limit=limit, reverse=reverse, kinds=kinds
        )

    def subscribe(
        self, reader: Callable[[ev.Event], None], after_id: int = 0
    ) -> AbstractContextManager[None]:
        return self._log.subscribe(reader, after_id)

    def listen(self) -> AbstractContextManager[threading.Event]:
        return self._log.listen()

    def _note(self, event: ev.Event) -> None:
        if isinstance(event.payload, ev.StateChanged):
            self.was_answered = False
            self._cancels = False
        if event.source is ev.Source.SYSTEM and event.cause is not None:
            self._unjudged.discard(event.cause)
            self._cancels |= _cancels(event)

    def _say(self, scripted: ScriptedInput) -> None:
        payload = scripted.event.payload
        if not isinstance(payload, ev.Steering):
            return
        event = self._log.append(scripted.event.source, payload)
        self._said[event.id] = scripted
        self.was_answered = True
        self._cancels |= _cancels(event)
        if scripted.accepted is not None:
            self._unjudged.add(event.id)


def find_scripted_inputs(recorded: Sequence[ev.Event]) -> list[ScriptedInput]:
    steering = accepted_steering(recorded)
    cues: list[ScriptedInput] = []
    steps_before = 0
    for event in in_order_noticed(recorded):
        steps_before += is_own_step(event)
        if is_steering(event):
            answer = steering[event.id].payload if event.id in steering else None
            kept = answer if isinstance(answer, ev.Steering) else None
            cues.append(ScriptedInput(steps_before, event, kept))
    return cues


def is_own_step(event: ev.Event) -> bool:
    """Tell whether the run itself did this, and would do so again."""
    payload = event.payload
    if isinstance(payload, ev.OutcomeReached):
        return payload.outcome.waits
    if isinstance(payload, ev.StateChanged):
        return False
    if isinstance(payload, ev.Steering):
        is_message = isinstance(payload, ev.Message)
        return is_message and event.source is ev.Source.SYSTEM and event.cause is None
    return isinstance(
        payload, ev.ModelReply | ev.ModelCalled | ev.Action | ev.Observation
    )


def _cancels(event: ev.Event) -> bool:
    payload = event.payload
    return isinstance(payload, ev.ChangeState) and payload.state in _CANCELLING_KINDS
