"""The log of a run as its agents use it: read once, written, and watched for a stop."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import reduce
from typing import Final, TypeVar

import structlog

from patchwright.core.condense.condenser import LastingFacts
from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog
from patchwright.core.events.state import RunState, fold, may_change
from patchwright.core.types.errors import LeaseLostError

_PAGE: Final = 500

AcceptedSteering = ev.Message | ev.ChangeState | ev.RaiseLimits
SteeringFilter = Callable[[ev.Event], AcceptedSteering | None]
EventFollower = Callable[[ev.Event], None]


def ignore_steering(event: ev.Event) -> None:
    """Let nobody steer the run."""


class RunLog:
    """The events of a run: its state, and each event for those who follow it.

    `filter_steering` checks each message of a person. What it returns goes to the model
    or changes the run, in the system's name. A message that an earlier worker checked
    is not checked again. `last_message_id` is the newest event from a person.
    `last_seen_id` is the newest event that the model had read when it last answered.
    `wakeup` belongs to the log.
    """

    def __init__(
        self,
        log: EventLog,
        wakeup: threading.Event,
        filter_steering: SteeringFilter,
        start_id: int,
    ) -> None:
        self.log = log
        self.wakeup = wakeup
        self.state = RunState()
        self.facts = LastingFacts()
        self.last_id = start_id - 1
        self.last_seen_id = start_id
        self.last_message_id = 0
        self._filter_steering = filter_steering
        self._unjudged: dict[int, ev.Event] = {}
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

    def append(
        self, source: ev.Source, payload: ev.Known, cause: int | None = None
    ) -> ev.Event:
        event = self.log.append(source, payload, cause)
        if event.id == self.last_id + 1:
            self._take(event)
        else:
            self._read_on()
        return event

    def catch_up(self) -> None:
        """Read the events of others, and check the messages of people in them."""
        self.wakeup.clear()
        self._read_on()
        while self._unjudged:
            event = self._unjudged[min(self._unjudged)]
            if steering := self._filter_steering(event):
                self.append(ev.Source.SYSTEM, steering, event.id)
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

    def _page(self, start_id: int, end_id: int | None = None) -> list[ev.Event]:
        return list(self.log.read(start_id, end_id, limit=_PAGE))

    def _take(self, event: ev.Event) -> None:
        self.last_id = event.id
        self.state = fold(self.state, event)
        self.facts.add(event)
        if event.source is ev.Source.SYSTEM and event.cause in self._unjudged:
            del self._unjudged[event.cause]
            if isinstance(event.payload, ev.Message):
                self.last_message_id = event.id
        if event.source is ev.Source.USER and isinstance(event.payload, ev.Message):
            self._unjudged[event.id] = event
        if isinstance(event.payload, ev.ModelReply) and not event.payload.agent:
            self.last_seen_id = event.cause or event.id
        for follower in tuple(self._followers):
            follower(event)


T = TypeVar("T")
ReleaseSignal = Future[None]

_CANCEL_STATES = frozenset({ev.AgentState.STOPPED, ev.AgentState.PAUSED})


class RunCancelledError(Exception):
    """A person wants the run stopped or paused: nothing more is waited for."""


class CancelToken:
    """Keeps an ear on the run's log while something else is waited for.

    `release_signal` is done when this process must let go of the job.
    """

    def __init__(self, run_log: RunLog, release_signal: ReleaseSignal) -> None:
        self._run_log = run_log
        self._release_signal = release_signal
        wakeup = run_log.wakeup
        release_signal.add_done_callback(lambda _: wakeup.set())

    @property
    def is_cancelled(self) -> bool:
        wanted = self._run_log.state.wanted
        return wanted is not None and wanted.state in _CANCEL_STATES

    def check(self) -> None:
        """Read new messages; raise if the run must stop.

        Raises `RunCancelledError`, or `LeaseLostError` when the job was released.
        """
        self._check_held()
        self._run_log.catch_up()
        # It clears the wakeup, which may have been set for this event.
        self._check_held()
        if self.is_cancelled:
            raise RunCancelledError

    def _check_held(self) -> None:
        if self._release_signal.done():
            raise LeaseLostError("the job was released")

    def wait_for(self, future: "Future[T]") -> T:
        """Return the result of a call; raises as `filter_steering` does.

        The call is abandoned then.
        """
        wakeup = self._run_log.wakeup
        future.add_done_callback(lambda _: wakeup.set())
        while not future.done():
            wakeup.wait()
            if not future.done():
                self.check()
        return future.result()


log = structlog.get_logger(__name__)


class EventWriter:
    """Puts the agent's name under what it writes; states are those of the whole run."""

    def __init__(self, run_log: RunLog, agent: str) -> None:
        self._run_log, self._agent = run_log, agent

    def write(
        self, source: ev.Source, payload: ev.Known, cause: int | None = None
    ) -> ev.Event:
        own = payload.replace(agent=self._agent)
        return self._run_log.append(source, own, cause)

    def note(
        self, payload: ev.Message | ev.LoopDetected, cause: int | None = None
    ) -> None:
        """Tell the agent something in the system's name."""
        self.write(ev.Source.SYSTEM, payload, cause)

    def change(self, state: ev.AgentState, reason: str = "") -> None:
        """Bring the run into a state, unless it is in that already.

        One that the table does not foresee is a fault of ours, and no reason to lose a
        run.
        """
        before = self._run_log.state.state
        if state is before:
            return
        if not may_change(before, state):
            log.error("state_not_foreseen", before=before, after=state)
        changed = ev.StateChanged(state=state, reason=reason)
        self._run_log.append(ev.Source.SYSTEM, changed)
