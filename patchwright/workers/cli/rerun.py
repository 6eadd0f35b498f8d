"""Run a recorded run again, for `patchwright replay --rerun`."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from patchwright.core.agent.agents import find_agent
from patchwright.core.clock import SystemClock
from patchwright.core.errors import (
    GitError,
    PatchwrightError,
    RuntimeLostError,
    SandboxError,
    SettingsError,
)
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.logs import set_up_logging
from patchwright.core.settings.here import load_settings_here
from patchwright.core.settings.secret_values import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.core.trajectory.compare import Difference
from patchwright.core.trajectory.files import StoredRun
from patchwright.core.types.ids import RandomIds
from patchwright.core.types.work import OutcomeKind
from patchwright.integrations.git.local import LocalRepository
from patchwright.resolver.messages.facts import count_noun
from patchwright.resolver.replay import ReplayResult, ReplayEnvironment, replay_run
from patchwright.sandbox.choose import create_factory
from patchwright.workers.cli.interrupt import interruptible
from patchwright.workers.cli.lines import plain
from patchwright.workers.run.interruption import InterruptibleSandboxes
from patchwright.workers.run.spec import sandbox_spec

SAME: Final = 0
DIFFERENT: Final = 1
COULD_NOT_RUN: Final = 3
_SANDBOX_FAILURES: Final = {error.reason for error in (SandboxError, RuntimeLostError, GitError)}


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
        raise SettingsError(f"--repo: {error}") from error
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
    broke = done.outcome.kind is OutcomeKind.FAILED and done.outcome.reason in _SANDBOX_FAILURES
    return COULD_NOT_RUN if broke else DIFFERENT


@contextmanager
def _rerun_stage(
    repository: LocalRepository, flags: Mapping[str, str | None], events: Path | None
) -> Iterator[ReplayEnvironment]:
    settings = load_settings_here(flags)
    redactor = Redactor(secret_values(settings))
    set_up_logging(redactor.redact_json, as_json=settings.log_json)
    clock, spec = SystemClock(), sandbox_spec(settings, RandomIds().new())
    with (
        tempfile.TemporaryDirectory(prefix="patchwright-replay-") as folder,
        _open_log(events or Path(folder) / "events.jsonl", redactor, clock) as log,
        interruptible() as release_signal,
    ):
        chosen = create_factory(settings.sandbox.kind, clock, settings.sandbox.image)
        yield ReplayEnvironment(
            repository=repository.objects,
            sandboxes=InterruptibleSandboxes(chosen, release_signal),
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
