"""One run for people at a terminal: what it is, its steps, and where its result is."""

from collections.abc import Sequence

import typer
from rich.console import Console

from patchwright.core.trajectory.fold import tell_story
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.progress import ProgressTracker
from patchwright.workers.cli.lines import plain
from patchwright.workers.cli.live import live_lines
from patchwright.workers.cli.replay_view import print_story
from patchwright.workers.cli.report import exit_code, print_result
from patchwright.workers.cli.run_json import run_as_json
from patchwright.workers.cli.run_table import place_text
from patchwright.workers.runs.archive import LocalRuns
from patchwright.workers.runs.exporting import events_of
from patchwright.workers.runs.listed import RunRow, row_of_log
from patchwright.workers.runs.naming import SHORT_ID_LENGTH
from patchwright.workers.runs.service import ServiceRuns
from patchwright.workers.runs.watching import follow_until_end
from patchwright.workers.store.job import Job, outcome_of

_NOT_WATCHED = "Not watched any more; the run goes on."
INTERRUPTED = 130


def show_job(service: ServiceRuns, job: Job, *, as_object: bool) -> None:
    events = events_of(service, job)
    listed, delivered = service.row_of(job), service.reader.delivered(job)
    outcome = outcome_of(job)
    story = tell_story(events).replace(outcome=outcome)
    if as_object:
        typer.echo(run_as_json(listed, story, outcome, delivered))
        return
    console = Console()
    _print_head(console, listed)
    if events:
        print_story(console, story, delivered, f"The run is {listed.stage}.")
    elif outcome is not None:
        print_result(console, outcome, delivered)


def show_local(archive: LocalRuns, run_id: str, *, as_object: bool) -> None:
    run = archive.read(run_id)
    story, listed = tell_story(run.events), row_of_log(run_id, run.trajectory.run)
    if as_object:
        typer.echo(run_as_json(listed, story, story.outcome, DeliveryResult()))
        return
    console = Console()
    _print_head(console, listed)
    print_story(console, story)


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
        print_result(Console(), outcome, delivered)
    return exit_code(outcome) if outcome else 1


def _print_head(console: Console, run: RunRow) -> None:
    asked = f"asked for by {run.requester}" if run.requester else ""
    state = f"{run.stage}: {run.outcome}" if run.outcome else str(run.stage)
    facts: Sequence[str] = (f"run {run.id[:SHORT_ID_LENGTH]}", place_text(run), asked, state)
    line = " · ".join(part for part in facts if part)
    console.print(plain(line, "dim"), soft_wrap=True)
    if run.title:
        console.print(plain(run.title, "bold"), soft_wrap=True)
