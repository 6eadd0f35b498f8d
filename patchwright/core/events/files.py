"""Read files of events, one JSON object a line."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue, ValidationError

from patchwright.core.errors import PatchwrightError
from patchwright.core.events.types import Event, Source
from patchwright.core.types.base import Value


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
