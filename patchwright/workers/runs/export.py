"""Export a run as the document that `replay` reads, and its work as a bundle."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchwright.core.events.jsonl import StoredEvent
from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Event
from patchwright.core.replay.trajectory import (
    FACT_KINDS,
    Trajectory,
    facts_of,
    write_parts,
    write_trajectory,
)
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import SettingsError
from patchwright.resolver.job import Job
from patchwright.workers.runs.administration import ServiceRuns
from patchwright.workers.runs.lookup import LocalRun, ServiceRun
from patchwright.workers.runs.reader import RunReader

_PAGE: Final = 500


def events_of(service: ServiceRuns, job: Job) -> Sequence[Event]:
    """Return the events of a run as this version understands them."""
    return _events(service.reader, job)


def _events(reader: RunReader, job: Job) -> Sequence[Event]:
    span = reader.span(job)
    return reader.log_of(job).read(span.first, span.last) if span.first else ()


def export_document(found: ServiceRun | LocalRun, redactor: Redactor) -> Trajectory:
    """Return it with what no version here knows, and without the secrets of today."""
    if isinstance(found, ServiceRun):
        parts = export_service_run(found.service.reader, found.job, redactor)
        return Trajectory.model_validate_json("".join(parts))
    return _without_secrets(found.archive.read(found.id).trajectory, redactor)


def export_service_run(
    reader: RunReader, job: Job, redactor: Redactor
) -> Iterator[str]:
    """Return what yields the document of a run of the service, many events at a time.

    Raises `SettingsError` where it has no events yet.
    """
    log, span = reader.log_of(job), reader.span(job)
    newest = log.read(span.first, span.last, limit=1, reverse=True)
    if not span.first or not newest:
        raise _no_events(job)
    last = newest[0]
    facts = facts_of(_telling_events(log, span.first, last)).model_dump(mode="json")
    pages = reader.events.open(job.conversation_id).entry_pages(span.first, last.id)
    clean = (
        [redactor.redact_json(one.model_dump(mode="json")) for one in page]
        for page in pages
    )
    return write_parts(redactor.redact_json(facts), clean)


def _telling_events(log: EventLog, first_id: int, last: Event) -> Iterator[Event]:
    """Yield the first event, the last, and those between them that tell facts."""
    if first_id < last.id:
        yield from log.read(first_id, first_id)
    at = first_id + 1
    while page := log.read(at, last.id - 1, limit=_PAGE, kinds=FACT_KINDS):
        yield from page
        at = page[-1].id + 1
    yield last


def export_service_log(
    reader: RunReader, job: Job, redactor: Redactor
) -> Iterator[str]:
    """Return what yields the log as JSON lines, many at a time.

    Raises `SettingsError` where the run has no events yet.
    """
    span = reader.span(job)
    if not span.first:
        raise _no_events(job)
    log = reader.events.open(job.conversation_id)
    pages = log.entry_pages(span.first, span.last)
    return ("".join(_line(one, redactor) for one in page) for page in pages)


def _line(entry: StoredEvent, redactor: Redactor) -> str:
    return f"{json.dumps(redactor.redact_json(entry.model_dump(mode='json')))}\n"


def _no_events(job: Job) -> SettingsError:
    return SettingsError(f"the run {job.id} has no events yet")


def _without_secrets(document: Trajectory, redactor: Redactor) -> Trajectory:
    clean = redactor.redact_json(document.model_dump(mode="json"))
    return Trajectory.model_validate(clean)


@dataclass(frozen=True)
class WorkBundle:
    """A bundle of one commit, named by `ref`; it builds on `base_sha`."""

    bundle: bytes
    ref: str
    base_sha: str


def load_work_bundle(service: ServiceRuns, job: Job) -> WorkBundle:
    """Return the run's newest stored work."""
    kept = service.reader.outcomes.load_work(job.id)
    if kept is None:
        raise SettingsError(f"no work of the run {job.id} is stored")
    head = _HEAD.match(kept)
    if head is None:
        raise SettingsError(f"the stored work of the run {job.id} is not a Git bundle")
    return WorkBundle(kept, head["ref"].decode(), head["base"].decode())


# https://git-scm.com/docs/gitformat-bundle
_HEAD: Final = re.compile(
    rb"# v[23] git bundle\n(?:@[^\n]*\n)*-(?P<base>[0-9a-f]+)[^\n]*\n"
    rb"[0-9a-f]+ (?P<ref>[^\n]+)\n"
)


def write_work(work: WorkBundle, path: Path) -> None:
    try:
        with path.open("xb") as file:
            file.write(work.bundle)
    except OSError as error:
        raise SettingsError(f"--out: {path}: {error.strerror}") from error


def write_document(document: Trajectory, path: Path) -> None:
    try:
        write_trajectory(document, path)
    except OSError as error:
        raise SettingsError(f"--out: {path}: {error.strerror}") from error
