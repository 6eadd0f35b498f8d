"""Trajectories: runs as JSON documents, found in logs of events, read and written."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, pairwise
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from patchwright.core.events.jsonl import read_events
from patchwright.core.events.observations import (
    ModelReply,
    OutcomeReached,
    ResultDelivered,
    RunStarted,
)
from patchwright.core.events.state import ModelCallTotals, read_call
from patchwright.core.events.types import Event
from patchwright.core.types.errors import PatchwrightError, SettingsError
from patchwright.core.types.work import Limits, Outcome, Usage

FORMAT: Final = "patchwright-trajectory"
VERSION: Final = 1


class RunFacts(BaseModel):
    """What a reader wants to know of a run before it reads the events.

    All of it is taken from them, and they are what counts. Without an outcome the run
    had not ended, or its end was not written down.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    run_id: str = ""
    title: str = ""
    base_sha: str = ""
    base_branch: str = ""
    repository: str = ""
    model: str = ""
    patchwright: str = ""
    limits: Limits | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str | None = None
    reason: str = ""
    proof: str = ""
    iterations: int = 0
    usage: Usage = Usage()
    branch: str = ""
    pull_request_url: str = ""
    patch: str = ""


class Trajectory(BaseModel):
    """A whole run. The events are kept as they came, with what nobody here knows."""

    model_config = ConfigDict(frozen=True, extra="allow")

    format: Literal["patchwright-trajectory"] = FORMAT
    version: int = VERSION
    run: RunFacts
    events: tuple[dict[str, JsonValue], ...]


# The kinds of events that say anything of a run; its first and last one say when.
FACT_KINDS: Final = frozenset(
    {
        "model_called",
        "model_reply",
        "outcome_reached",
        "result_delivered",
        "run_started",
    }
)


@dataclass
class _FactsSoFar:
    """What the events say that were read so far."""

    first: Event | None = None
    last: Event | None = None
    started: RunStarted | None = None
    outcome: Outcome | None = None
    result: ResultDelivered = field(default_factory=ResultDelivered)
    iterations: int = 0
    totals: ModelCallTotals = field(default_factory=ModelCallTotals)

    def take(self, event: Event) -> None:
        self.first, self.last = self.first or event, event
        if call := read_call(event):
            self.totals = self.totals.with_call(call)
        match event.payload:
            case RunStarted() as started:
                self.started = self.started or started
            case OutcomeReached(outcome=outcome):
                self.outcome = outcome
            case ResultDelivered() as result:
                self.result = result
            case ModelReply():
                self.iterations += 1
            case _:
                pass


def facts_of(events: Iterable[Event]) -> RunFacts:
    """Read the facts off the events, each of which is needed once."""
    read = _FactsSoFar()
    for event in events:
        read.take(event)
    started, outcome, result = read.started, read.outcome, read.result
    task = started.task if started else None
    base = task or outcome
    return RunFacts(
        run_id=started.run_id if started else "",
        title=task.title if task else "",
        base_sha=base.base_sha if base else "",
        base_branch=base.base_branch if base else "",
        repository=started.repository if started else "",
        model=started.model if started else "",
        patchwright=started.version if started else "",
        limits=started.limits if started else None,
        started_at=read.first.at if read.first else None,
        ended_at=read.last.at if read.last else None,
        outcome=outcome.kind if outcome else None,
        reason=outcome.reason if outcome else "",
        proof=outcome.proof if outcome else "",
        iterations=read.iterations,
        usage=read.totals.usage,
        branch=result.branch,
        pull_request_url=result.pull_request_url,
        patch=result.patch,
    )


_Kind = TypeVar("_Kind")


def payloads_of(events: Iterable[Event], kind: type[_Kind]) -> Iterator[_Kind]:
    return (event.payload for event in events if isinstance(event.payload, kind))


def find_start(events: Sequence[Event]) -> RunStarted | None:
    return next(payloads_of(events, RunStarted), None)


def find_outcome(events: Sequence[Event]) -> Outcome | None:
    """Return how the run ended, as it was said last."""
    last = next(payloads_of(reversed(events), OutcomeReached), None)
    return last.outcome if last else None


Events = Sequence[Event]


def split_runs(events: Events) -> list[Events]:
    """Return the events of each run, in order.

    A run that continues has no second start. What was said before the first one belongs
    to it; older logs say nowhere that a run begins, and have one.
    """
    starts = [
        n for n, event in enumerate(events) if isinstance(event.payload, RunStarted)
    ]
    borders = [0, *starts[1:], len(events)]
    return [events[first:end] for first, end in pairwise(borders) if first < end]


def choose_run(events: Events, run_id: str | None, name: str) -> Events:
    """Return the run whose id begins with `run_id`, or the only one there is.

    Raises `SettingsError`, which lists the runs, when it is not clear which is meant;
    `name` is what the events were read from.
    """
    runs = split_runs(events)
    if not runs:
        raise SettingsError(f"{name} is empty; a run writes an event at its start")
    if run_id is None:
        if len(runs) == 1:
            return runs[0]
        raise SettingsError(
            f"{name} has {len(runs)} runs; choose one with --run:\n{_list(runs)}"
        )
    found = [run for run in runs if facts_of(run).run_id.startswith(run_id)]
    if len(found) == 1:
        return found[0]
    problem = "more than one run id begins" if found else "no run id begins"
    raise SettingsError(f"--run: {problem} with {run_id!r}; there are:\n{_list(runs)}")


def _list(runs: Sequence[Events]) -> str:
    return "\n".join(_line(facts_of(run)) for run in runs)


def _line(facts: RunFacts) -> str:
    run_id, outcome = facts.run_id or "(no id)", facts.outcome or "not ended"
    return f"  {run_id}  {outcome}  {facts.title}".rstrip()


Stored = dict[str, JsonValue]


def write_parts(
    facts: JsonValue, pages: Iterable[Iterable[JsonValue]]
) -> Iterator[str]:
    """Yield a document in parts; a long one need not fit into memory."""
    head = Trajectory(run=RunFacts(), events=()).model_dump(exclude={"run", "events"})
    begin = json.dumps({**head, "run": facts})
    yield f'{begin[:-1]}, "events": ['
    separator = ""
    for page in pages:
        for event in page:
            yield f"{separator}{json.dumps(event)}"
            separator = ",\n"
    yield "]}\n"


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
            f"{path} is not a trajectory: `format` is {found!r} where {FORMAT!r} is "
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
