"""Read and write trajectories: as documents, and out of logs of events."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import JsonValue, ValidationError

from patchwright.core.errors import PatchwrightError, SettingsError
from patchwright.core.events.files import read_events
from patchwright.core.events.types import Event
from patchwright.core.trajectory.document import (
    FORMAT,
    VERSION,
    Trajectory,
    facts_of,
)
from patchwright.core.trajectory.runs import choose_run

Stored = dict[str, JsonValue]


class TrajectoryError(PatchwrightError):
    """A file is no run; the message says where in it and why."""

    reason = "bad-trajectory"


def write_trajectory(trajectory: Trajectory, path: Path) -> None:
    """Write a document to a file that must not exist yet."""
    with path.open("x", encoding="utf-8") as file:
        file.write(f"{trajectory.model_dump_json()}\n")


@dataclass(frozen=True)
class StoredRun:
    """A run as it was stored, and as this version understands it."""

    trajectory: Trajectory
    events: Sequence[Event]


def read_run(path: Path, run_id: str | None = None) -> StoredRun:
    """Return the run in a trajectory document or in a log of events.

    Where there are several runs, `run_id` says which. Raises `SettingsError` when the
    file cannot be read or it is not clear which run is meant, and otherwise
    `TrajectoryError` or `EventFileError`.
    """
    try:
        document = _find_document(path)
        if document is None:
            return _run_of_log(path, run_id)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    trajectory = _check(path, document)
    events = choose_run(parse_events(trajectory.events, str(path)), run_id, str(path))
    return StoredRun(trajectory, events)


def parse_events(stored: Sequence[Stored], name: str) -> list[Event]:
    """Return events as this version understands them; their ids have no gap.

    `name` is for the error that says which of them is wrong.
    """
    events: list[Event] = []
    for number, raw in enumerate(stored, start=1):
        try:
            event = Event.model_validate(raw)
        except ValidationError as error:
            text = f"{name}, event {number}: {_first_fault(error)}"
            raise TrajectoryError(text) from None
        if events and event.id != events[-1].id + 1:
            raise TrajectoryError(
                f"{name}, event {number}: its id is {event.id} after "
                f"{events[-1].id}; events are missing or out of order"
            )
        events.append(event)
    return events


def _find_document(path: Path) -> Stored | None:
    """Return the one JSON object of a file, or None where each line is one."""
    with path.open("rb") as file:
        first = _as_object(file.readline())
        if first is not None:
            return first if "format" in first else None
        file.seek(0)
        # What is neither is left to the reader of logs, which names the line.
        return _as_object(file.read())


def _as_object(text: bytes) -> Stored | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _check(path: Path, document: Stored) -> Trajectory:
    found, version = document.get("format"), document.get("version")
    if found != FORMAT:
        raise TrajectoryError(
            f"{path} is no trajectory: `format` is {found!r} where {FORMAT!r} is "
            "expected. A log of events has one event on each line."
        )
    if not isinstance(version, int) or version > VERSION:
        raise TrajectoryError(
            f"{path}: `version` is {version!r}, and this Patchwright reads up to "
            f"{VERSION}; read it with a newer one."
        )
    try:
        return Trajectory.model_validate(document)
    except ValidationError as error:
        raise TrajectoryError(f"{path}: {_first_fault(error)}") from None


def _run_of_log(path: Path, run_id: str | None) -> StoredRun:
    events = read_events(path)
    run = choose_run(events, run_id, str(path))
    with path.open("rb") as file:
        lines = islice(file, run[0].id - 1, run[-1].id)
        stored = tuple(json.loads(line) for line in lines)
    return StoredRun(Trajectory(run=facts_of(run), events=stored), run)


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)
    where = ".".join(map(str, first[0]["loc"]))
    return f"{where}: {first[0]['msg']}" if where else first[0]["msg"]
