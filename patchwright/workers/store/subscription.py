"""Follow an event log from a thread of one's own."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Event
from patchwright.core.types.ids import ConversationId
from patchwright.workers.store.doorbell import Doorbell

# The doorbell is heard in this process only; events of others are found by looking.
LOOK_AGAIN_S = 1.0
PAGE = 500

log = structlog.get_logger(__name__)


@contextmanager
def subscription(
    events: EventLog,
    reader: Callable[[Event], None],
    after_id: int,
    doorbell: Doorbell,
    conversation_id: ConversationId,
) -> Iterator[None]:
    """Hand over events until the context is left and everything has been read."""
    with doorbell.listen(conversation_id) as bell:
        follower = _Follower(events, reader, after_id, bell)
        thread = threading.Thread(target=follower.run, name="event-subscription")
        thread.start()
        try:
            yield
        finally:
            follower.finish()
            thread.join()


class _Follower:
    def __init__(
        self,
        events: EventLog,
        reader: Callable[[Event], None],
        after_id: int,
        bell: threading.Event,
    ) -> None:
        self._events = events
        self._reader = reader
        self._cursor = after_id
        self._bell = bell
        self._finishing = threading.Event()

    def finish(self) -> None:
        self._finishing.set()
        self._bell.set()

    def run(self) -> None:
        self._catch_up()
        last_look = False
        while not last_look:
            self._bell.wait(LOOK_AGAIN_S)
            self._bell.clear()
            # Asked before reading: what was appended before `finish` is read then.
            last_look = self._finishing.is_set()
            self._catch_up()

    def _catch_up(self) -> None:
        page = self._next_page()
        while page:
            for event in page:
                self._hand_over(event)
                self._cursor = event.id
            page = self._next_page()

    def _next_page(self) -> tuple[Event, ...]:
        try:
            return tuple(self._events.read(self._cursor + 1, limit=PAGE))
        except SQLAlchemyError as error:
            log.warning("subscription_cannot_read", error=type(error).__name__)
            return ()

    def _hand_over(self, event: Event) -> None:
        try:
            self._reader(event)
        except Exception:  # the reader's faults are its own, whatever they are
            log.exception("subscription_reader_failed", event_id=event.id)
