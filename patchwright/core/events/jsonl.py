"""An event log in one JSON Lines file, for runs on the command line."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Self

from pydantic import JsonValue

from patchwright.core.clock import Clock
from patchwright.core.events.doorbell import Notifier
from patchwright.core.events.files import StoredEvent, read_entries
from patchwright.core.events.follow import follow_log
from patchwright.core.events.shelf import InMemoryEvents
from patchwright.core.events.transfer import LogNotEmptyError
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
        self._path = path
        self._file = path.open("x", encoding="utf-8")
        self._redact, self._clock = redact, clock
        self._events = InMemoryEvents()
        self._lock = threading.Lock()
        self._notifier = Notifier()

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
            stored = self._write(event)
        self._notifier.notify(_THE_ONLY_ONE)
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
        return self._events.read(
            start_id, end_id, limit=limit, reverse=reverse, kinds=kinds
        )

    def entries(self) -> Iterator[StoredEvent]:
        return read_entries(self._path)

    def restore(self, entries: Iterable[StoredEvent]) -> None:
        with self._lock:
            if len(self._events):
                raise LogNotEmptyError(f"{self._path} has events already")
            for entry in entries:
                self._write(entry)
        self._notifier.notify(_THE_ONLY_ONE)

    def listen(self) -> AbstractContextManager[threading.Event]:
        return self._notifier.listen(_THE_ONLY_ONE)

    @contextmanager
    def subscribe(
        self, reader: Callable[[Event], None], after_id: int = 0
    ) -> Iterator[None]:
        with self.listen() as wakeup, follow_log(self.read, reader, wakeup, after_id=after_id):
            yield

    def _write(self, new: Event | StoredEvent) -> Event:
        clean = self._redact(well_formed_tree(new.model_dump(mode="json")))
        stored = Event.model_validate(clean)
        line = json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
        self._file.write(f"{line}\n")
        self._file.flush()
        self._events.add(stored)
        return stored
