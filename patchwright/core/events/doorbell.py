"""Wake those who wait for a conversation's next event."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from patchwright.core.types.ids import ConversationId


def _notify_nobody(_conversation_id: ConversationId) -> None:
    """Serve where this process is the only one, or the others hear by themselves."""


class Wakeup(Protocol):
    """Something that rings; being told to twice is no more than being told once."""

    def set(self) -> None: ...


class Notifier:
    """Rings for every listener of a conversation.

    A ring says only that there may be something new: it is remembered until the
    listener clears it, and many rings may count as one. `tell_others` carries a ring to
    other processes; what they ring arrives by `ring_here`.
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
            for listener in self._listeners.get(conversation_id, ()):
                listener.set()

    def notify_all_here(self) -> None:
        """Ring for everybody in this process, for who was meant is not known."""
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
        """Ring a bell of the listener's own, from whichever thread."""
        with self._lock:
            self._listeners[conversation_id].add(wakeup)
        try:
            yield
        finally:
            self._forget(conversation_id, wakeup)

    def _forget(self, conversation_id: ConversationId, listener: Wakeup) -> None:
        with self._lock:
            self._listeners[conversation_id].discard(listener)
            if not self._listeners[conversation_id]:
                del self._listeners[conversation_id]
