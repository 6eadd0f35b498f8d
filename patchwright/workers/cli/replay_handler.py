"""Carry out `patchwright replay`: show a recorded run, or run it again."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.agent.agents import find_agent
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.replay.comparison import Difference
from patchwright.core.replay.story import Step, Story, tell_story
from patchwright.core.replay.trajectory import (
    StoredRun,
    parse_events,
    read_run,
    write_trajectory,
)
from patchwright.core.settings.model import secret_values
from patchwright.core.system.clock import SystemClock
from patchwright.core.system.logs import set_up_logging
from patchwright.core.text.redaction import Redactor
from patchwright.core.text.strings import count_noun
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import (
    GitError,
    PatchwrightError,
    RuntimeLostError,
    SandboxError,
    SettingsError,
)
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.integrations.git.local import LocalRepository
from patchwright.resolver.replay import ReplayEnvironment, ReplayResult, replay_run
from patchwright.resolver.set_up.sandboxes import InterruptibleSandboxes, sandbox_spec
from patchwright.sandbox.factory import create_factory
from patchwright.workers.cli.interruption import interruptible
from patchwright.workers.cli.replay_view import print_step, print_story
from patchwright.workers.cli.run_commands import ReplayOptions
from patchwright.workers.cli.terminal import load_command_settings, plain
from patchwright.workers.runs.export import export_document
from patchwright.workers.runs.lookup import open_run_lookup
from patchwright.workers.runs.selection import UnknownRunError


def story_as_json(story: Story) -> str:
    """Write the folded run: its steps, what happened beside them, and its metrics."""
    return json.dumps(
        {
            "run": story.facts.model_dump(mode="json"),
            "steps": [step.model_dump(mode="json") for step in story.steps],
            "remarks": [remark.model_dump(mode="json") for remark in story.remarks],
            "metrics": story.metrics.model_dump(mode="json"),
            "outcome": story.outcome.model_dump(mode="json") if story.outcome else None,
        }
    )


def step_as_json(step: Step, run: StoredRun) -> str:
    """Write one step with all its events, as they were stored."""
    wanted = events_of_step(step)
    stored = [one for one in run.trajectory.events if one.get("id") in wanted]
    return json.dumps({"step": step.model_dump(mode="json"), "events": stored})


def events_of_step(step: Step) -> frozenset[int]:
    """Return the ids of a step's events."""
    ids = [step.event_id]
    for act in step.acts:
        ids += [one for one in (act.action_id, act.result_id) if one is not None]
    return frozenset(ids)


SAME: Final = 0
DIFFERENT: Final = 1
COULD_NOT_RUN: Final = 3
_SANDBOX_FAILURES: Final = {
    error.reason for error in (SandboxError, RuntimeLostError, GitError)
}


class RerunStoppedError(PatchwrightError):
    """Somebody ended it before it was done."""

    reason = "stopped"


def rerun_run(
    run: StoredRun,
    repo: Path,
    flags: Mapping[str, str | None],
    events: Path | None,
    *,
    as_object: bool,
) -> int:
    """Run it again, print what is different, and return the exit code."""
    try:
        repository = LocalRepository.open(repo)
    except GitError as error:
        raise SettingsError(f"-C: {error}") from error
    try:
        with _rerun_stage(repository, flags, events) as stage:
            done = replay_run(run.events, stage)
    except KeyboardInterrupt as told:
        raise RerunStoppedError(f"stopped by {told}") from None
    if as_object:
        typer.echo(_rerun_as_json(run, done, events))
    else:
        _print_rerun(Console(), run, done)
    return rerun_exit_code(done)


def rerun_exit_code(done: ReplayResult) -> int:
    if done.comparison.is_same:
        return SAME
    broke = (
        done.outcome.kind is OutcomeKind.FAILED
        and done.outcome.reason in _SANDBOX_FAILURES
    )
    return COULD_NOT_RUN if broke else DIFFERENT


@contextmanager
def _rerun_stage(
    repository: LocalRepository, flags: Mapping[str, str | None], events: Path | None
) -> Iterator[ReplayEnvironment]:
    settings = load_command_settings(flags)
    redactor = Redactor(secret_values(settings))
    set_up_logging(redactor.redact_json, as_json=settings.log_json)
    clock, spec = SystemClock(), sandbox_spec(settings, RandomIds().new())
    with (
        tempfile.TemporaryDirectory(prefix="patchwright-replay-") as folder,
        _open_log(events or Path(folder) / "events.jsonl", redactor, clock) as log,
        interruptible() as interruption,
    ):
        chosen = create_factory(settings.sandbox.kind, clock, settings.sandbox.image)
        yield ReplayEnvironment(
            repository=repository.objects,
            sandboxes=InterruptibleSandboxes(chosen, interruption.release_signal),
            spec=spec,
            log=log,
            clock=clock,
            agent=find_agent(settings.agent.name),
        )


def _open_log(path: Path, redactor: Redactor, clock: SystemClock) -> JsonlEventLog:
    try:
        return JsonlEventLog(path, redactor.redact_json, clock)
    except OSError as error:
        raise SettingsError(f"--events: {path}: {error.strerror}") from error


def _rerun_as_json(run: StoredRun, done: ReplayResult, events: Path | None) -> str:
    found = done.comparison
    return json.dumps(
        {
            "same": found.is_same,
            "run_id": run.trajectory.run.run_id,
            "steps": found.steps,
            "results_compared": found.results_compared,
            "results_same": found.results_same,
            "differences": [one.model_dump(mode="json") for one in found.differences],
            "served": list(done.served),
            "notes": list(found.notes),
            "outcome": done.outcome.kind,
            "reason": done.outcome.reason,
            "proof": done.outcome.proof,
            "tree": done.tree or None,
            "events": str(events) if events else None,
        }
    )


def _print_rerun(console: Console, run: StoredRun, done: ReplayResult) -> None:
    found = done.comparison
    verdict = ("same", "bold green") if found.is_same else ("different", "bold yellow")
    counts = f"{found.results_same} of {count_noun(found.results_compared, 'result')}"
    name = run.trajectory.run.title or run.trajectory.run.run_id
    facts = f"  {counts} in {count_noun(found.steps, 'step')} are the same"
    console.print(Text.assemble(verdict, (facts, "dim")), soft_wrap=True)
    for one in found.differences:
        console.print(_difference_line(one), soft_wrap=True)
    ending = f"{done.outcome.kind}, {done.outcome.proof}"
    for label, value in (
        ("run", name),
        ("outcome", ending),
        ("tree", done.tree),
        *(("from the recording", text) for text in done.served),
        *(("note", note) for note in found.notes),
    ):
        if value:
            console.print(plain(f"{label}: {value}"), soft_wrap=True)


def _difference_line(one: Difference) -> Text:
    step = f"step {one.step}: " if one.step else ""
    then, now = one.recorded or "nothing", one.rerun or "nothing"
    return Text.assemble(
        *(("✗ ", "red"), plain(f"{step}{one.what}: ")),
        plain(f"{then} then, {now} now", "yellow"),
    )


def run_replay(options: ReplayOptions) -> int:
    """Return the exit code; raises `SettingsError` for options that do not fit."""
    _check_replay_options(options)
    found = find_recording(options.recording, options.run)
    if options.export is not None:
        _export_run(found, options.export)
    if options.reruns:
        flags = {"sandbox.kind": options.sandbox.value if options.sandbox else None}
        folder = options.folder or Path()
        as_object = options.as_object
        return rerun_run(found, folder, flags, options.events, as_object=as_object)
    if options.step is not None:
        _show_step(found, options.step, as_object=options.as_object)
    elif options.as_object:
        typer.echo(story_as_json(tell_story(found.events)))
    elif options.export is None:
        print_story(Console(), tell_story(found.events))
    return 0


def find_recording(recording: str, run_id: str | None) -> StoredRun:
    """Return the run in a file, or the one whose id begins so.

    Raises `SettingsError` where there is neither.
    """
    path = Path(recording)
    if path.exists() or not _RUN_ID.fullmatch(recording):
        return read_run(path, run_id)
    if run_id is not None:
        raise SettingsError("--run chooses one of the runs in a file: leave it out")
    with open_run_lookup(load_command_settings()) as run_lookup:
        try:
            found = run_lookup.find(recording)
        except UnknownRunError as error:
            text = f"there is no file {recording!r}, and {error}"
            raise UnknownRunError(text) from None
        document = export_document(found, run_lookup.redactor)
    return StoredRun(document, parse_events(document.events, f"run {found.id}"))


# The beginning of one; what has a full stop or a slash is a file.
_RUN_ID: Final = re.compile(r"[0-9A-Za-z-]+")


def _check_replay_options(options: ReplayOptions) -> None:
    if options.reruns and options.folder is None:
        raise SettingsError(
            "--rerun needs -C FOLDER: a checkout of the repository of the recorded run"
        )
    others = (options.folder, options.sandbox, options.events)
    if not options.reruns and any(option is not None for option in others):
        raise SettingsError("-C, --sandbox and --events work only with --rerun")


def _export_run(found: StoredRun, path: Path) -> None:
    try:
        write_trajectory(found.trajectory, path)
    except OSError as error:
        raise SettingsError(f"--export: {path}: {error.strerror}") from error


def _show_step(found: StoredRun, number: int, *, as_object: bool) -> None:
    story = tell_story(found.events)
    step = next((one for one in story.steps if one.number == number), None)
    if step is None:
        raise SettingsError(f"--step: the run has {len(story.steps)} steps")
    if as_object:
        typer.echo(step_as_json(step, found))
    else:
        print_step(Console(), step, found.events)
