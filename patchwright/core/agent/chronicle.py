"""Read a run's log once for everybody in the run, and write to it."""

import threading
from collections.abc import Callable
from functools import reduce
from typing import Final

from patchwright.core.condense.facts import LastingFacts
from patchwright.core.events.log import EventLog
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import (
    ChangeState,
    Event,
    Known,
    Message,
    ModelReply,
    RaiseLimits,
    Source,
)

_PAGE: Final = 500

AcceptedSteering = Message | ChangeState | RaiseLimits
SteeringFilter = Callable[[Event], AcceptedSteering | None]
EventFollower = Callable[[Event], None]


def ignore_steering(event: Event) -> None:
    """Let nobody steer the run."""


class RunLog:
    """What has happened in a run: its state, and each event to those who follow.

    `hear` judges what people say: what it returns goes to the model or changes the
    run, in the system's name. What an earlier worker has judged is not judged again.
    `spoken_id` is the event of what a person said last, and `shown_id` the last event
    that the run's own agent had before it when it spoke. `bell` is the log's.
    """

    def __init__(
        self, log: EventLog, wakeup: threading.Event, filter_steering: SteeringFilter, start_id: int
    ) -> None:
        self.log = log
        self.wakeup = wakeup
        self.state = RunState()
        self.facts = LastingFacts()
        self.last_id = start_id - 1
        self.last_seen_id = start_id
        self.last_message_id = 0
        self._filter_steering = filter_steering
        self._unjudged: dict[int, Event] = {}
        self._followers: list[EventFollower] = []

    def follow(self, follower: EventFollower, since_id: int) -> None:
        """Hand over every event from `since_id` on, the past ones at once."""
        at = since_id
        while at <= self.last_id and (page := self._page(at, self.last_id)):
            for event in page:
                follower(event)
            at = page[-1].id + 1
        self._followers.append(follower)

    def leave(self, follower: EventFollower) -> None:
        self._followers.remove(follower)

    def append(self, source: Source, payload: Known, cause: int | None = None) -> Event:
        event = self.log.append(source, payload, cause)
        if event.id == self.last_id + 1:
            self._take(event)
        else:
            self._read_on()
        return event

    def catch_up(self) -> None:
        """Take note of what others have written, and judge what people say in it."""
        self.wakeup.clear()
        self._read_on()
        while self._unjudged:
            event = self._unjudged[min(self._unjudged)]
            if heard := self._filter_steering(event):
                self.append(Source.SYSTEM, heard, event.id)
            self._unjudged.pop(event.id, None)

    def since(self, event_id: int) -> RunState:
        """Return what has been done from an event on."""
        state, at = RunState(), event_id
        while page := self._page(at, self.last_id):
            state = reduce(fold, page, state)
            at = page[-1].id + 1
        return state

    def _read_on(self) -> None:
        while page := self._page(self.last_id + 1):
            for event in page:
                self._take(event)

    def _page(self, start_id: int, end_id: int | None = None) -> list[Event]:
        return list(self.log.read(start_id, end_id, limit=_PAGE))

    def _take(self, event: Event) -> None:
        self.last_id = event.id
        self.state = fold(self.state, event)
        self.facts.add(event)
        if event.source is Source.SYSTEM and event.cause in self._unjudged:
            del self._unjudged[event.cause]
            if isinstance(event.payload, Message):
                self.last_message_id = event.id
        if event.source is Source.USER and isinstance(event.payload, Message):
            self._unjudged[event.id] = event
        if isinstance(event.payload, ModelReply) and not event.payload.agent:
            self.last_seen_id = event.cause or event.id
        for follower in tuple(self._followers):
            follower(event)
