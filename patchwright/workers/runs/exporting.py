"""Take a run out of where it is kept, as the document that `replay` reads."""

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from patchwright.core.errors import SettingsError
from patchwright.core.events.types import Event
from patchwright.core.text.redaction import Redactor
from patchwright.core.trajectory.document import Trajectory, facts_of
from patchwright.core.trajectory.files import write
from patchwright.workers.runs.desk import LocalRun, ServiceRun
from patchwright.workers.runs.service import Service
from patchwright.workers.store.job import Job

_Stored = dict[str, JsonValue]


def events_of(service: Service, job: Job) -> Sequence[Event]:
    """Return the events of a run as this version understands them."""
    span = service.reader.span(job)
    log = service.reader.log_of(job)
    return log.read(span.first, span.last) if span.first else ()


def as_document(found: ServiceRun | LocalRun, redactor: Redactor) -> Trajectory:
    """Return it with what no version here knows, and without the secrets of today."""
    if isinstance(found, ServiceRun):
        document = _of_service(found.service, found.job)
    else:
        document = found.archive.read(found.id).trajectory
    clean = redactor.redact_json(document.model_dump(mode="json"))
    return Trajectory.model_validate(clean)


def write_document(document: Trajectory, path: Path) -> None:
    try:
        write(document, path)
    except OSError as error:
        raise SettingsError(f"--out: {path}: {error.strerror}") from error


def _of_service(service: Service, job: Job) -> Trajectory:
    events = events_of(service, job)
    if not events:
        raise SettingsError(f"the run {job.id} has no events yet")
    first, last = events[0].id, events[-1].id
    entries = service.events.open(job.conversation_id).entries()
    upto = takewhile(lambda one: one.id <= last, entries)
    stored = [one.model_dump(mode="json") for one in upto if one.id >= first]
    facts = facts_of(events)
    return Trajectory(run=facts, events=tuple(cast("list[_Stored]", stored)))
