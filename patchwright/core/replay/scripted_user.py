"""A log that repeats what people said in a recorded run, at the same places."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import (
    Action,
    AgentState,
    ChangeState,
    Event,
    Known,
    Message,
    ModelCalled,
    ModelReply,
    Observation,
    OutcomeReached,
    RaiseLimits,
    Source,
    StateChanged,
    Steering,
)


def is_steering(event: Event) -> bool:
    """Tell whether a person said or asked for this, in whoever's name it stands."""
    payload = event.payload
    if isinstance(payload, Message):
        return event.source is Source.USER
    return isinstance(payload, Steering) and event.cause is None


def accepted_steering(events: Sequence[Event]) -> dict[int, Event]:
    """Return how each thing that was said was heard, by the id of its event."""
    return {
        event.cause: event
        for event in events
        if event.source is Source.SYSTEM
        and event.cause is not None
        and isinstance(event.payload, Steering)
    }


def in_order_noticed(events: Sequence[Event]) -> list[Event]:
    """Put what was said while a model answered after its answer, unless it was heard.

    Which of the two came first is chance then, and changed nothing.
    """
    places = {event.id: (event.id, 0) for event in events}
    heard = accepted_steering(events)
    said: list[Event] = []
    for event in events:
        if is_steering(event):
            said.append(event)
        elif isinstance(event.payload, ModelReply):
            seen_id = event.cause or 0
            for one in said:
                is_heard = one.id in heard and heard[one.id].id < event.id
                if one.id > seen_id and not is_heard:
                    places[one.id] = (event.id, one.id)
            said.clear()
    return sorted(events, key=lambda event: places[event.id])


AcceptedSteering = Message | ChangeState | RaiseLimits
# To hear takes milliseconds; whoever does not will not any more.
WAIT_LIMIT_S: Final = 5.0
_CANCELLING_KINDS: Final = frozenset({AgentState.STOPPED, AgentState.PAUSED})


@dataclass(frozen=True)
class ScriptedInput:
    """What somebody said after so many beats of the run, and how it was heard."""

    steps_before: int
    event: Event
    accepted: AcceptedSteering | None


class ScriptedUser:
    """Passes on to a log what is written, and writes what people said in between.

    `was_answered` tells whether somebody has said something since the run began to
    wait for it.
    """

    def __init__(
        self,
        log: EventLog,
        recorded: Sequence[Event],
        *,
        patience_s: float = WAIT_LIMIT_S,
    ) -> None:
        self._log, self._answer_limit_s = log, patience_s
        self._inputs = deque(find_scripted_inputs(recorded))
        self._said: dict[int, ScriptedInput] = {}
        self._unjudged: set[int] = set()
        self._cancels = False
        self._steps_taken = 0
        self._changed = threading.Condition(threading.RLock())
        self.was_answered = False

    def filter_steering(self, event: Event) -> AcceptedSteering | None:
        """Judge what is said as it was judged then."""
        cue = self._said.get(event.id)
        return cue.accepted if cue else None

    def wait_until_accepted(self) -> bool:
        """Wait until all is heard that was said; return whether the work goes on.

        A model that answers at once would otherwise now and then be faster.
        """
        with self._changed:
            called_off = self._cancels
            self._changed.wait_for(
                lambda: not self._unjudged and not self._cancels, self._answer_limit_s
            )
        return not called_off

    def append(self, source: Source, payload: Known, cause: int | None = None) -> Event:
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
    ) -> Sequence[Event]:
        return self._log.read(
            start_id, end_id, limit=limit, reverse=reverse, kinds=kinds
        )

    def subscribe(
        self, reader: Callable[[Event], None], after_id: int = 0
    ) -> AbstractContextManager[None]:
        return self._log.subscribe(reader, after_id)

    def listen(self) -> AbstractContextManager[threading.Event]:
        return self._log.listen()

    def _note(self, event: Event) -> None:
        if isinstance(event.payload, StateChanged):
            self.was_answered = False
            self._cancels = False
        if event.source is Source.SYSTEM and event.cause is not None:
            self._unjudged.discard(event.cause)
            self._cancels |= _cancels(event)

    def _say(self, cue: ScriptedInput) -> None:
        payload = cue.event.payload
        if not isinstance(payload, Steering):
            return
        said = self._log.append(cue.event.source, payload)
        self._said[said.id] = cue
        self.was_answered = True
        self._cancels |= _cancels(said)
        if cue.accepted is not None:
            self._unjudged.add(said.id)


def find_scripted_inputs(recorded: Sequence[Event]) -> list[ScriptedInput]:
    heard = accepted_steering(recorded)
    cues: list[ScriptedInput] = []
    steps_before = 0
    for event in in_order_noticed(recorded):
        steps_before += is_own_step(event)
        if is_steering(event):
            answer = heard[event.id].payload if event.id in heard else None
            kept = answer if isinstance(answer, Steering) else None
            cues.append(ScriptedInput(steps_before, event, kept))
    return cues


def is_own_step(event: Event) -> bool:
    """Tell whether the run itself did this, and would do so again."""
    payload = event.payload
    if isinstance(payload, OutcomeReached):
        return payload.outcome.waits
    if isinstance(payload, StateChanged):
        return False
    if isinstance(payload, Steering):
        is_message = isinstance(payload, Message)
        return is_message and event.source is Source.SYSTEM and event.cause is None
    return isinstance(payload, ModelReply | ModelCalled | Action | Observation)


def _cancels(event: Event) -> bool:
    payload = event.payload
    return isinstance(payload, ChangeState) and payload.state in _CANCELLING_KINDS
