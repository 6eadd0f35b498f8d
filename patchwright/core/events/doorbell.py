"""Wake those who wait for a conversation's next event, within this process."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from patchwright.core.types.ids import ConversationId


class Doorbell:
    """Rings for every listener of a conversation.

    A ring says only that there may be something new: it is remembered until the
    listener clears it, and many rings may count as one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: defaultdict[ConversationId, set[threading.Event]] = (
            defaultdict(set)
        )

    def ring(self, conversation_id: ConversationId) -> None:
        with self._lock:
            for listener in self._listeners.get(conversation_id, ()):
                listener.set()

    @contextmanager
    def listen(self, conversation_id: ConversationId) -> Iterator[threading.Event]:
        listener = threading.Event()
        with self._lock:
            self._listeners[conversation_id].add(listener)
        try:
            yield listener
        finally:
            self._forget(conversation_id, listener)

    def _forget(
        self, conversation_id: ConversationId, listener: threading.Event
    ) -> None:
        with self._lock:
            self._listeners[conversation_id].discard(listener)
            if not self._listeners[conversation_id]:
                del self._listeners[conversation_id]
