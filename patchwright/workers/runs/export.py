"""Export a run as the document that `replay` reads, and its work as a bundle."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from pydantic import JsonValue

from patchwright.core.events.jsonl import StoredEvent
from patchwright.core.events.types import Event
from patchwright.core.replay.trajectory import Trajectory, facts_of, write_trajectory
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import SettingsError
from patchwright.resolver.job import Job
from patchwright.workers.runs.administration import ServiceRuns
from patchwright.workers.runs.lookup import LocalRun, ServiceRun
from patchwright.workers.runs.reader import RunReader

_Stored = dict[str, JsonValue]


def events_of(service: ServiceRuns, job: Job) -> Sequence[Event]:
    """Return the events of a run as this version understands them."""
    return _events(service.reader, job)


def _events(reader: RunReader, job: Job) -> Sequence[Event]:
    span = reader.span(job)
    return reader.log_of(job).read(span.first, span.last) if span.first else ()


def export_document(found: ServiceRun | LocalRun, redactor: Redactor) -> Trajectory:
    """Return it with what no version here knows, and without the secrets of today."""
    if isinstance(found, ServiceRun):
        return export_service_run(found.service.reader, found.job, redactor)
    return _without_secrets(found.archive.read(found.id).trajectory, redactor)


def export_service_run(reader: RunReader, job: Job, redactor: Redactor) -> Trajectory:
    """Return the document of a run of the service.

    Raises `SettingsError` where it has no events yet.
    """
    return _without_secrets(_of_service(reader, job), redactor)


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


def _of_service(reader: RunReader, job: Job) -> Trajectory:
    events = _events(reader, job)
    if not events:
        raise _no_events(job)
    log = reader.events.open(job.conversation_id)
    pages = log.entry_pages(events[0].id, events[-1].id)
    stored = [one.model_dump(mode="json") for page in pages for one in page]
    facts = facts_of(events)
    return Trajectory(run=facts, events=tuple(cast("list[_Stored]", stored)))
