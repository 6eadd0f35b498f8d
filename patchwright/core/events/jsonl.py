"""Event logs as JSON Lines files: read, written, exported and imported."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Final, Protocol, Self

from pydantic import JsonValue, ValidationError

from patchwright.core.events.log import InMemoryEvents, Notifier, follow_log
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event, Known
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import well_formed_tree
from patchwright.core.types.base import ConversationId, Value
from patchwright.core.types.errors import PatchwrightError


class EventFileError(PatchwrightError):
    """A file is not a log of events; `line` is the first one, from 1, that cannot be.

    The message does not repeat what is in the line, which may be anything.
    """

    reason = "bad-event-file"

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}, line {line}: {problem}")
        self.line = line


class StoredEvent(Value):
    """An event as it is stored: its payload with every field that it came with."""

    id: int
    at: datetime
    source: Source
    cause: int | None = None
    payload: dict[str, JsonValue]


def read_events(path: Path) -> Sequence[Event]:
    """Return the events of a file, whose ids count from 1 without a gap.

    A kind that this version does not know comes as `Unknown`, and fields that it does
    not know are left out. So is a last line that was cut off, as the death of its
    writer leaves it. Raises `EventFileError`, and `OSError` for the file itself.
    """
    return [event for event, _ in _read(path)]


def read_entries(path: Path) -> Iterator[StoredEvent]:
    """Yield the events of a file with all their fields; otherwise as `read_events`."""
    return (entry for _, entry in _read(path))


def _read(path: Path) -> Iterator[tuple[Event, StoredEvent]]:
    for number, line in _lines(path):
        try:
            entry = StoredEvent.model_validate_json(line)
            event = Event.model_validate_json(line)
        except ValidationError as error:
            raise EventFileError(path, number, _problem(error)) from None
        if event.id != number:
            raise EventFileError(path, number, f"its id is {event.id}, not {number}")
        yield event, entry


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n") or _is_json(line):
                yield number, line


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _problem(error: ValidationError) -> str:
    first, *_ = error.errors(
        include_url=False, include_context=False, include_input=False
    )
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]


class LogNotEmptyError(PatchwrightError):
    """Events can only be restored to a log that has none; nothing was stored."""

    reason = "log-not-empty"


class TransferableLog(Protocol):
    """A log that exports and imports events as they are stored.

    Nothing of them is lost: neither times and ids nor kinds and fields that this
    version does not know. Secrets are redacted on the way in.
    """

    def entries(self) -> Iterator[StoredEvent]:
        """Yield all events, in order."""
        ...

    def restore(self, entries: Iterable[StoredEvent]) -> None:
        """Store events that had these ids; raises `LogNotEmptyError`."""
        ...


def export_log(log: TransferableLog, file: IO[str]) -> int:
    """Write one event a line; return how many there were."""
    count = 0
    for entry in log.entries():
        file.write(f"{entry.model_dump_json()}\n")
        count = entry.id
    return count


def import_log(path: Path, log: TransferableLog) -> int:
    """Restore the events of a file, all or none; return how many there were.

    Raises what `read_events` does.
    """
    count = sum(1 for _ in read_entries(path))
    log.restore(read_entries(path))
    return count


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
        self._notifier.notify_here(_THE_ONLY_ONE)
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
        self._notifier.notify_here(_THE_ONLY_ONE)

    def listen(self) -> AbstractContextManager[threading.Event]:
        return self._notifier.listen(_THE_ONLY_ONE)

    @contextmanager
    def subscribe(
        self, reader: Callable[[Event], None], after_id: int = 0
    ) -> Iterator[None]:
        with (
            self.listen() as wakeup,
            follow_log(self.read, reader, wakeup, after_id=after_id),
        ):
            yield

    def _write(self, new: Event | StoredEvent) -> Event:
        clean = self._redact(well_formed_tree(new.model_dump(mode="json")))
        stored = Event.model_validate(clean)
        line = json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
        self._file.write(f"{line}\n")
        self._file.flush()
        self._events.add(stored)
        return stored
