"""What to type after a run of `resolve`."""

import shlex
from pathlib import Path
from typing import Final

from patchwright.core.types.work import Outcome
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.runs.selection import SHORT_ID_LENGTH

_SHA_CHARS: Final = 10


def next_commands(finished: FinishedRun, run: str) -> tuple[str, ...]:
    """Return commands, the most likely first; `run` is what `replay` takes.

    A pull request needs none: its address is in the result.
    """
    replay = (f"patchwright replay {run}",) if run else ()
    return (*_of_change(finished), *replay)


def _of_change(finished: FinishedRun) -> tuple[str, ...]:
    outcome, delivered = finished.outcome, finished.delivered
    if finished.patch is not None:
        git = _git(finished.folder)
        return (f"{git} am {shlex.quote(str(finished.patch))}",)
    branch = shlex.quote(delivered.branch)
    if not delivered.branch or delivered.pull_request_url:
        return ()
    if finished.folder is None:
        return (f"git fetch origin {branch}",)
    git = _git(finished.folder)
    compared = f"{git} diff {shlex.quote(_base(outcome))}...{branch}"
    # What was cut short is to be gone on with, and not to be taken as it is.
    then = "merge" if outcome.proposes_change else "switch"
    return (compared, f"{git} {then} {branch}")


def _base(outcome: Outcome) -> str:
    return outcome.base_branch or outcome.base_sha[:_SHA_CHARS]


def _git(folder: Path | None) -> str:
    """Return `git`, told about a folder that is not the current one."""
    if folder is None or folder.resolve() == Path.cwd():
        return "git"
    return f"git -C {shlex.quote(str(folder))}"


def name_of_run(run_id: str, events: Path, folder: Path) -> str:
    """Return what `replay` finds the run by: its id, or a log that is elsewhere."""
    if events.resolve().parent == folder.resolve():
        return run_id[:SHORT_ID_LENGTH]
    return shlex.quote(str(events))
