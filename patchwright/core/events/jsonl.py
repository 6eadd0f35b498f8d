"""An event log in one JSON Lines file, for runs on the command line."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from pydantic import JsonValue

from patchwright.core.clock import Clock
from patchwright.core.events.doorbell import Doorbell
from patchwright.core.events.follow import follow
from patchwright.core.events.types import Event, Known, Source
from patchwright.core.text.surrogates import well_formed_tree
from patchwright.core.types.ids import ConversationId

_THE_ONLY_ONE: Final = ConversationId("")


class JsonlEventLog:
    """Appends to a file that must not exist yet; one line is one event."""

    def __init__(
        self, path: Path, redact: Callable[[JsonValue], JsonValue], clock: Clock
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("x", encoding="utf-8")
        self._redact, self._clock = redact, clock
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._doorbell = Doorbell()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def append(self, source: Source, payload: Known, cause: int | None = None) -> Event:
        with self._lock:
            event = Event(
                id=len(self._events) + 1,
                at=self._clock.now(),
                source=source,
                cause=cause,
                payload=payload,
            )
            tree = well_formed_tree(event.model_dump(mode="json"))
            stored = Event.model_validate(self._redact(tree))
            self._file.write(f"{stored.model_dump_json()}\n")
            self._file.flush()
            self._events.append(stored)
        self._doorbell.ring(_THE_ONLY_ONE)
        return stored

    def read(
        self,
        start_id: int = 1,
        end_id: int | None = None,
        *,
        limit: int | None = None,
        reverse: bool = False,
        kinds: frozenset[str] | None = None,
    ) -> Sequence[Event]:
        chosen = [
            event
            for event in self._events[max(start_id, 1) - 1 : end_id]
            if kinds is None or event.payload.kind in kinds
        ]
        if reverse:
            chosen.reverse()
        return chosen[:limit]

    @contextmanager
    def subscribe(
        self, reader: Callable[[Event], None], after_id: int = 0
    ) -> Iterator[None]:
        with (
            self._doorbell.listen(_THE_ONLY_ONE) as bell,
            follow(self.read, reader, bell, after_id=after_id),
        ):
            yield
