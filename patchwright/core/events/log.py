"""The protocol of an event log, its events in memory, and waiting for the next one."""

import threading
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from heapq import merge
from itertools import islice
from typing import Protocol

import structlog

from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event, Known
from patchwright.core.types.base import ConversationId


class EventLog(Protocol):
    """The append-only log of one conversation; every writer and reader goes through it.

    Secrets are redacted here, before anything is stored. Appending raises
    `LeaseLostError` when the writer's lease is no longer the newest.
    """

    def append(
        self, source: Source, payload: Known, cause: int | None = None
    ) -> Event: ...

    def read(
        self,
        start_id: int = 1,
        end_id: int | None = None,
        *,
        limit: int | None = None,
        reverse: bool = False,
        kinds: frozenset[str] | None = None,
    ) -> Sequence[Event]:
        """Return the events with ids in `start_id..end_id`, both included."""
        ...

    def subscribe(
        self, reader: Callable[[Event], None], after_id: int = 0
    ) -> AbstractContextManager[None]:
        """Hand every event after `after_id` to `reader`, once and in order.

        Each reader has its own thread: a slow or failing reader blocks neither the
        writer nor other readers. Leaving the context waits until the reader has seen
        everything that was appended before.
        """
        ...

    def listen(self) -> AbstractContextManager[threading.Event]:
        """Return an event object that is set whenever there may be a new event.

        It is set for every writer, in this process and in others; the listener clears
        it before it reads. It may be set without a new event, and no event is missed.
        """
        ...


class InMemoryEvents:
    """Events in the order of their ids; one thread at a time may add.

    Others may read meanwhile: they see what had been added when they began.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._ids_of: defaultdict[str, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: Event) -> None:
        self._events.append(event)
        self._ids_of[event.payload.kind].append(event.id)

    def read(
        self,
        start_id: int,
        end_id: int | None,
        *,
        limit: int | None,
        reverse: bool,
        kinds: frozenset[str] | None,
    ) -> Sequence[Event]:
        first, last = max(start_id, 1), len(self._events)
        if end_id is not None:
            last = min(end_id, last)
        every = range(first, last + 1)
        ids = (
            _in_order(every, reverse=reverse)
            if kinds is None
            else merge(
                *(self._of_kind(kind, every, reverse=reverse) for kind in kinds),
                reverse=reverse,
            )
        )
        return [self._events[event_id - 1] for event_id in islice(ids, limit)]

    def _of_kind(self, kind: str, ids: range, *, reverse: bool) -> Iterable[int]:
        run = self._ids_of.get(kind, [])
        places = range(bisect_left(run, ids.start), bisect_right(run, ids.stop - 1))
        return (run[place] for place in _in_order(places, reverse=reverse))


def _in_order(numbers: range, *, reverse: bool) -> range:
    return numbers[::-1] if reverse else numbers


def _notify_nobody(_conversation_id: ConversationId) -> None:
    """Do nothing: there is no other process, or it is notified in another way."""


class Wakeup(Protocol):
    """Something that can be notified; two notifications may count as one."""

    def set(self) -> None: ...


# No conversation has it: its listeners are notified of all.
_ANY = ConversationId("")


class Notifier:
    """Notifies every listener of a conversation, and those who listen to all.

    A notification says only that there may be something new: it is kept until the
    listener clears it, and many may count as one. `tell_others` sends it to other
    processes; their notifications arrive by `notify_here`.
    """

    def __init__(
        self, notify_others: Callable[[ConversationId], None] = _notify_nobody
    ) -> None:
        self._lock = threading.Lock()
        self._listeners: defaultdict[ConversationId, set[Wakeup]] = defaultdict(set)
        self._notify_others = notify_others

    def notify(self, conversation_id: ConversationId) -> None:
        self.notify_here(conversation_id)
        self._notify_others(conversation_id)

    def notify_here(self, conversation_id: ConversationId) -> None:
        with self._lock:
            for key in (conversation_id, _ANY):
                for listener in self._listeners.get(key, ()):
                    listener.set()

    def notify_all_here(self) -> None:
        """Notify everybody in this process, because the receiver is unknown."""
        with self._lock:
            for listeners in self._listeners.values():
                for listener in listeners:
                    listener.set()

    @contextmanager
    def listen(self, conversation_id: ConversationId) -> Iterator[threading.Event]:
        listener = threading.Event()
        with self.attach(conversation_id, listener):
            yield listener

    @contextmanager
    def attach(self, conversation_id: ConversationId, wakeup: Wakeup) -> Iterator[None]:
        """Set the listener's own event object, from any thread."""
        with self._lock:
            self._listeners[conversation_id].add(wakeup)
        try:
            yield
        finally:
            self._forget(conversation_id, wakeup)

    def attach_to_all(self, wakeup: Wakeup) -> AbstractContextManager[None]:
        """Set the listener's event object for each conversation."""
        return self.attach(_ANY, wakeup)

    def _forget(self, conversation_id: ConversationId, listener: Wakeup) -> None:
        with self._lock:
            self._listeners[conversation_id].discard(listener)
            if not self._listeners[conversation_id]:
                del self._listeners[conversation_id]


log = structlog.get_logger(__name__)


@contextmanager
def follow_log(
    read: Callable[[int], Sequence[Event]],
    reader: Callable[[Event], None],
    wakeup: threading.Event,
    *,
    after_id: int = 0,
    look_again_s: float | None = None,
) -> Iterator[None]:
    """Hand the events after `after_id` to `reader`, once and in order.

    `read(start_id)` returns the next ones from there on, or nothing. It is asked when
    `wakeup` is set, and every `look_again_s` for writers that send no notification.
    Leaving the context waits until everything has been read.
    """
    follower = _Follower(read, reader, wakeup, after_id, look_again_s)
    thread = threading.Thread(target=follower.run, name="event-reader", daemon=True)
    thread.start()
    try:
        yield
    finally:
        follower.finish()
        thread.join()


class _Follower:
    def __init__(
        self,
        read: Callable[[int], Sequence[Event]],
        reader: Callable[[Event], None],
        wakeup: threading.Event,
        after_id: int,
        look_again_s: float | None,
    ) -> None:
        self._read, self._reader, self._wakeup = read, reader, wakeup
        self._cursor = after_id
        self._look_again_s = look_again_s
        self._finishing = threading.Event()

    def finish(self) -> None:
        self._finishing.set()
        self._wakeup.set()

    def run(self) -> None:
        self._catch_up()
        last_look = False
        while not last_look:
            self._wakeup.wait(self._look_again_s)
            self._wakeup.clear()
            # Asked before reading: what was appended before `finish` is read then.
            last_look = self._finishing.is_set()
            self._catch_up()

    def _catch_up(self) -> None:
        while page := self._read(self._cursor + 1):
            for event in page:
                self._hand_over(event)
                self._cursor = event.id

    def _hand_over(self, event: Event) -> None:
        try:
            self._reader(event)
        except Exception:  # the reader's faults are its own, whatever they are
            log.exception("event_reader_failed", event_id=event.id)
