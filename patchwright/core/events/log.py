"""The protocol of a conversation's event log."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from patchwright.core.events.types import Event, Known, Source


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

        Each reader has a thread of its own: a slow or failing one holds up neither the
        writer nor another reader. Leaving the context waits until the reader has seen
        everything that was appended before.
        """
        ...

    def listen(self) -> AbstractContextManager[threading.Event]:
        """Return a bell that is set whenever there may be a new event.

        It is rung for every writer, in this process and in others; the listener clears
        it before it reads. A ring may be spurious, and none is lost.
        """
        ...
