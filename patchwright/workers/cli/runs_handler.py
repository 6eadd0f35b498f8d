"""Carry out `patchwright runs`: list, show, stop, retry and export runs."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Final

import structlog
import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.replay.story import tell_story
from patchwright.core.replay.trajectory import RunFacts
from patchwright.core.system.clock import SystemClock
from patchwright.core.system.logs import set_up_logging
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import OPERATOR, Actor
from patchwright.resolver.job import Job, JobState, outcome_of
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.progress import ProgressTracker
from patchwright.workers.cli.finished_run import (
    FinishedRun,
    finished_run,
    next_commands,
)
from patchwright.workers.cli.live import live_lines
from patchwright.workers.cli.replay_view import UNFINISHED, facts_lines, print_steps
from patchwright.workers.cli.report import exit_code, print_result
from patchwright.workers.cli.run_list import (
    place_text,
    print_runs,
    run_as_json,
    runs_as_json,
)
from patchwright.workers.cli.terminal import (
    load_command_settings,
    plain,
    print_hanging,
)
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.queue.interface import BrokerUnavailableError
from patchwright.workers.runs.administration import ServiceRuns, operator_name
from patchwright.workers.runs.commands import (
    CommandOrigin,
    RunAct,
    RunCommands,
    command_text,
)
from patchwright.workers.runs.export import (
    events_of,
    export_document,
    load_work_bundle,
    write_document,
    write_work,
)
from patchwright.workers.runs.lookup import (
    LocalRuns,
    RunLookup,
    ServiceRun,
    open_run_lookup,
)
from patchwright.workers.runs.reader import follow_until_end
from patchwright.workers.runs.run_row import RunFilter, RunRow
from patchwright.workers.runs.selection import SHORT_ID_LENGTH, RunStage

_NOT_WATCHED = "You stopped watching; the run continues."
INTERRUPTED = 130


def show_job(service: ServiceRuns, job: Job, *, as_object: bool) -> None:
    events, outcome = events_of(service, job), outcome_of(job)
    listed, delivered = service.row_of(job), service.reader.delivered(job)
    story = tell_story(events).replace(outcome=outcome)
    if as_object:
        typer.echo(run_as_json(listed, story, outcome, delivered))
        return
    console = Console()
    _print_head(console, listed, story.facts)
    if events:
        print_steps(console, story)
    if outcome is not None:
        commands = (f"patchwright runs export {_short(job.id)} --out run.json",)
        print_result(console, FinishedRun(outcome, delivered), commands)
    else:
        follow = f"`patchwright runs show {_short(job.id)} --follow` watches it."
        console.print(Text(f"The run is {listed.stage}. {follow}"), soft_wrap=True)


def show_local(archive: LocalRuns, run_id: str, *, as_object: bool) -> None:
    run = archive.read(run_id)
    story = tell_story(run.events)
    listed = archive.row_of(run_id, run.trajectory.run)
    finished = finished_run(run.events)
    if as_object:
        delivered = finished.delivered if finished else DeliveryResult()
        typer.echo(run_as_json(listed, story, story.outcome, delivered))
        return
    console = Console()
    _print_head(console, listed, story.facts)
    print_steps(console, story)
    if finished is None:
        console.print(Text(UNFINISHED), soft_wrap=True)
        return
    commands = next_commands(finished, run_id[:SHORT_ID_LENGTH])
    print_result(console, finished, commands)


def follow_run(service: ServiceRuns, job: Job, *, as_object: bool) -> int:
    """Show what happens until it ends; return the exit code for how it ended."""
    console = Console(stderr=True, quiet=as_object)
    _print_head(console, service.row_of(job))
    limits = service.settings.limits.of_a_run()
    # The worker knows what kind of sandbox it is.
    watch = ProgressTracker("fresh", job.created_at)
    notifier = service.events.notifier
    try:
        with live_lines(console, watch, limits, service.clock) as show:
            ended = follow_until_end(service.reader, notifier, job, show)
    except KeyboardInterrupt:
        console.print(_NOT_WATCHED)
        return INTERRUPTED
    outcome, delivered = outcome_of(ended), service.reader.delivered(ended)
    if as_object:
        story = tell_story(events_of(service, ended))
        listed = service.row_of(ended)
        typer.echo(run_as_json(listed, story, outcome, delivered))
    elif outcome is not None:
        print_result(Console(), FinishedRun(outcome, delivered))
    return exit_code(outcome) if outcome else 1


def _print_head(console: Console, run: RunRow, facts: RunFacts | None = None) -> None:
    """Print the title, then what the run is, once."""
    title = run.title or "A run without a title"
    print_hanging(console, plain(title, "bold"))
    asked = f"requested by {run.requester}" if run.requester else ""
    proof = f", {run.proof}" if run.proof not in ("", Proof.NONE) else ""
    state = f"{run.stage}: {run.outcome}{proof}" if run.outcome else str(run.stage)
    known = (f"run {_short(run.id)}", place_text(run), asked, state)
    line = " · ".join(part for part in known if part)
    print_hanging(console, plain(line, "dim"))
    if facts is not None:
        for fact in facts_lines(facts):
            print_hanging(console, fact)


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
    with _run_lookup() as run_lookup:
        found = _newest_runs(run_lookup, wanted, limit)
    if as_object:
        typer.echo(runs_as_json(found))
    elif found:
        print_runs(found, SystemClock().now())
    else:
        is_any = wanted == RunFilter()
        typer.echo(f"No {'' if is_any else 'such '}runs found.", err=True)


def show_run(run: str, *, follows: bool, as_object: bool) -> int:
    """Return the exit code."""
    with _run_lookup(listens=follows) as run_lookup:
        found = run_lookup.find(run)
        if isinstance(found, ServiceRun):
            if follows:
                return follow_run(found.service, found.job, as_object=as_object)
            show_job(found.service, found.job, as_object=as_object)
        elif follows:
            raise SettingsError(
                f"--follow: {run} is a run of `resolve`; watch it in its own terminal"
            )
        else:
            show_local(found.archive, found.id, as_object=as_object)
    return 0


_GIVEN: Final = {
    RunAct.MESSAGE: "your answer",
    RunAct.APPROVE: "an approval",
    RunAct.CONFIRM: "a confirmation",
    RunAct.REJECT: "a rejection",
    RunAct.PAUSE: "a pause",
    RunAct.RESUME: "a resume",
    RunAct.BUDGET: "a new budget",
    RunAct.STOP: "a stop",
    RunAct.RETRY: "a retry",
}


def send_command(run: str, act: str, typed: str, *, as_object: bool) -> None:
    """Send what a comment in the run's thread would say, in the operator's name."""
    text = command_text(RunAct(act), typed)
    by = Actor(
        service=OPERATOR, login=operator_name(), external_id=f"cli:{os.getuid()}"
    )
    with _run_lookup(listens=True) as run_lookup:
        found = _service_run(run_lookup, run, "steer it in its own terminal")
        service, ids = found.service, RandomIds()
        submit = partial(_submit, service)
        with Inbox(service.database, Recorder(service.events, ids), submit) as inbox:
            RunCommands(
                CommandOrigin.CLI,
                service.database,
                service.events,
                service.clock,
                inbox.submit,
                submit,
            ).send(found.job, text, by, ids.new()).result()
    was = found.job.state
    facts = {"run_id": found.id, "sent": text, "was": was, "told_by": by.login}
    later = f"it was {was}, and reads it when a worker takes it."
    reads = "it reads it now." if was is JobState.RUNNING else later
    told = f"The run {_short(found.id)} gets {_GIVEN[RunAct(act)]}; {reads}"
    typer.echo(json.dumps(facts) if as_object else told)


def stop_run(run: str, *, as_object: bool) -> None:
    with _run_lookup(listens=True) as run_lookup:
        found = _service_run(run_lookup, run, "press Ctrl-C in its terminal")
        administration = found.service.administration()
        state = administration.stop(found.job)
        if state is JobState.WAITING_USER:
            _submit(found.service, found.job.id)
    facts = {"run_id": found.id, "was": state, "told_by": administration.name}
    later = f"it was {state}, and ends when a worker takes it."
    ends = "it ends now." if state is JobState.RUNNING else later
    text = f"The run {_short(found.id)} gets a stop; {ends}"
    typer.echo(json.dumps(facts) if as_object else text)


def retry_run(run: str, *, as_object: bool) -> None:
    with _run_lookup(listens=True) as run_lookup:
        found = _service_run(
            run_lookup, run, "start `resolve` again with the same input"
        )
        administration = found.service.administration()
        new_id = administration.retry(found.job)
        _submit(found.service, new_id)
    facts = {"run_id": new_id, "retries": found.id, "told_by": administration.name}
    watch = f"`patchwright runs show {_short(new_id)} --follow`"
    text = f"The run {_short(new_id)} was queued. Watch it with {watch}."
    typer.echo(json.dumps(facts) if as_object else text)


def export_run(run: str, out: Path | None, *, as_object: bool) -> None:
    if as_object and out is None:
        raise SettingsError("--json prints only the name of the file: add --out FILE")
    with _run_lookup() as run_lookup:
        found = run_lookup.find(run)
        document = export_document(found, run_lookup.redactor)
    if out is None:
        typer.echo(document.model_dump_json())
        return
    write_document(document, out)
    facts = {"run_id": found.id, "file": str(out), "events": len(document.events)}
    text = f"The run {_short(found.id)} is in {out}."
    typer.echo(json.dumps(facts) if as_object else text)


def bundle_run(run: str, out: Path | None, *, as_object: bool) -> None:
    with _run_lookup() as run_lookup:
        found = _service_run(
            run_lookup, run, "its work is in a branch or a patch there"
        )
        work = load_work_bundle(found.service, found.job)
    name = _short(found.id)
    path = out or Path(f"work-{name}.bundle")
    write_work(work, path)
    facts = {"run_id": found.id, "file": str(path), "ref": work.ref}
    fetch = f"git fetch {path} {work.ref}:patchwright-{name}"
    text = f"The work of the run {name} is in {path}.\nIn a clone of the repository: "
    typer.echo(
        json.dumps({**facts, "base_sha": work.base_sha})
        if as_object
        else f"{text}{fetch}"
    )


@contextmanager
def _run_lookup(*, listens: bool = False) -> Iterator[RunLookup]:
    settings = load_command_settings()
    with open_run_lookup(settings, listens=listens) as run_lookup:
        set_up_logging(run_lookup.redactor.redact_json, as_json=settings.log_json)
        yield run_lookup


def _newest_runs(run_lookup: RunLookup, wanted: RunFilter, limit: int) -> list[RunRow]:
    """Return the newest of both kinds, as many as may be."""
    service = run_lookup.service
    of_service = service.listing.every_row(wanted) if service else ()
    kinds = (of_service, run_lookup.archive.list_rows())
    fitting = ((one for one in kind if wanted.has(one)) for kind in kinds)
    found = list(chain.from_iterable(islice(kind, limit) for kind in fitting))
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(found, key=lambda run: run.asked_at or never, reverse=True)[:limit]


def _short(run_id: str) -> str:
    return run_id[:SHORT_ID_LENGTH]


def _service_run(run_lookup: RunLookup, run: str, instead: str) -> ServiceRun:
    found = run_lookup.find(run)
    if isinstance(found, ServiceRun):
        return found
    raise SettingsError(f"{run} is a run of `resolve` on this machine: {instead}")


def _submit(service: ServiceRuns, job_id: JobId) -> None:
    """Let a worker know at once; without a broker for that it finds the job itself."""
    try:
        service.submit(job_id)
    except BrokerUnavailableError as error:
        log.warning("job_not_submitted", job_id=job_id, reason=str(error))
