"""Do what `patchwright runs` is asked for, and say what came of it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

import structlog
import typer

from patchwright.core.clock import SystemClock
from patchwright.core.errors import SettingsError
from patchwright.core.logs import set_up_logging
from patchwright.core.settings.here import load_settings_here
from patchwright.core.types.ids import JobId
from patchwright.core.types.work import OutcomeKind
from patchwright.workers.cli.run_json import runs_as_json
from patchwright.workers.cli.run_table import print_runs
from patchwright.workers.cli.run_view import follow_run, show_job, show_local
from patchwright.workers.queue.errors import BrokerUnavailableError
from patchwright.workers.runs.desk import RunLookup, ServiceRun, open_run_lookup
from patchwright.workers.runs.exporting import (
    export_document,
    load_work_bundle,
    write_document,
    write_work,
)
from patchwright.workers.runs.listed import RunRow, RunFilter
from patchwright.workers.runs.naming import SHORT_ID_LENGTH
from patchwright.workers.runs.service import ServiceRuns
from patchwright.workers.runs.stage import RunStage
from patchwright.workers.store.job import JobState

log = structlog.get_logger(__name__)


def list_runs(
    stage: RunStage | None,
    outcome: OutcomeKind | None,
    repo: str,
    limit: int,
    *,
    as_object: bool,
) -> None:
    wanted = RunFilter(stage=stage, outcome=outcome, repo=repo)
    with _desk() as desk:
        found = _newest_runs(desk, wanted, limit)
    if as_object:
        typer.echo(runs_as_json(found))
    elif found:
        print_runs(found, SystemClock().now())
    else:
        is_any = wanted == RunFilter()
        typer.echo(f"There are no {'' if is_any else 'such '}runs.", err=True)


def show_run(run: str, *, follows: bool, as_object: bool) -> int:
    """Return the exit code."""
    with _desk(listens=follows) as desk:
        found = desk.find(run)
        if isinstance(found, ServiceRun):
            if follows:
                return follow_run(found.service, found.job, as_object=as_object)
            show_job(found.service, found.job, as_object=as_object)
        elif follows:
            raise SettingsError(
                f"--follow: {run} is a run of `resolve`, which shows it where it works"
            )
        else:
            show_local(found.archive, found.id, as_object=as_object)
    return 0


def stop_run(run: str, *, as_object: bool) -> None:
    with _desk(listens=True) as desk:
        found = _service_run(desk, run, "press Ctrl-C where it works")
        administration = found.service.administration()
        state = administration.stop(found.job)
        if state is JobState.WAITING_USER:
            _submit(found.service, found.job.id)
    if as_object:
        said = {"run_id": found.id, "was": state, "told_by": administration.name}
        typer.echo(json.dumps(said))
    elif state is JobState.RUNNING:
        typer.echo(f"The run {found.id[:SHORT_ID_LENGTH]} was told to stop; it ends now.")
    else:
        typer.echo(
            f"The run {found.id[:SHORT_ID_LENGTH]} was told to stop; it was {state}, and ends as "
            "soon as a worker takes it."
        )


def retry_run(run: str, *, as_object: bool) -> None:
    with _desk(listens=True) as desk:
        found = _service_run(desk, run, "give the same to `resolve` again")
        administration = found.service.administration()
        new_id = administration.retry(found.job)
        _submit(found.service, new_id)
    if as_object:
        said = {"run_id": new_id, "retries": found.id, "told_by": administration.name}
        typer.echo(json.dumps(said))
    else:
        typer.echo(
            f"The run {new_id[:SHORT_ID_LENGTH]} was queued. Watch it with `patchwright runs "
            f"show {new_id[:SHORT_ID_LENGTH]} --follow`."
        )


def export_run(run: str, out: Path | None, *, as_object: bool) -> None:
    if as_object and out is None:
        raise SettingsError("--json tells where the run was written: give --out FILE")
    with _desk() as desk:
        found = desk.find(run)
        document = export_document(found, desk.redactor)
    if out is None:
        typer.echo(document.model_dump_json())
        return
    write_document(document, out)
    if as_object:
        events = len(document.events)
        told = {"run_id": found.id, "file": str(out), "events": events}
        typer.echo(json.dumps(told))
    else:
        typer.echo(f"The run {found.id[:SHORT_ID_LENGTH]} is in {out}.")


def bundle_run(run: str, out: Path | None, *, as_object: bool) -> None:
    with _desk() as desk:
        found = _service_run(desk, run, "its work is a branch or a patch there")
        work = load_work_bundle(found.service, found.job)
    path = out or Path(f"work-{found.id[:SHORT_ID_LENGTH]}.bundle")
    write_work(work, path)
    fetch = f"git fetch {path} {work.ref}:patchwright-{found.id[:SHORT_ID_LENGTH]}"
    if as_object:
        told = {"run_id": found.id, "file": str(path), "ref": work.ref}
        typer.echo(json.dumps({**told, "base_sha": work.base_sha}))
        return
    typer.echo(f"The work of the run {found.id[:SHORT_ID_LENGTH]} is in {path}.")
    typer.echo(f"In a clone of the repository: {fetch}")


@contextmanager
def _desk(*, listens: bool = False) -> Iterator[RunLookup]:
    settings = load_settings_here()
    with open_run_lookup(settings, listens=listens) as desk:
        set_up_logging(desk.redactor.redact_json, as_json=settings.log_json)
        yield desk


def _newest_runs(desk: RunLookup, wanted: RunFilter, limit: int) -> list[RunRow]:
    """Return the newest of both kinds, as many as may be."""
    of_service = desk.service.list_rows(wanted) if desk.service else ()
    kinds = (of_service, desk.archive.list_rows())
    fitting = ((one for one in kind if wanted.has(one)) for kind in kinds)
    found = list(chain.from_iterable(islice(kind, limit) for kind in fitting))
    return sorted(found, key=_asked_at, reverse=True)[:limit]


def _asked_at(run: RunRow) -> float:
    return run.asked_at.timestamp() if run.asked_at else 0.0


def _service_run(desk: RunLookup, run: str, instead: str) -> ServiceRun:
    found = desk.find(run)
    if isinstance(found, ServiceRun):
        return found
    raise SettingsError(f"{run} is a run of `resolve` on this machine: {instead}")


def _submit(service: ServiceRuns, job_id: JobId) -> None:
    """Let a worker know at once; without a broker for that it finds the job itself."""
    try:
        service.submit(job_id)
    except BrokerUnavailableError as error:
        log.warning("job_not_submitted", job_id=job_id, reason=str(error))
