"""How a run of `resolve` ended, where its result is, and what to type then."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchwright.core.events.observations import ResultDelivered
from patchwright.core.events.types import Event
from patchwright.core.replay.trajectory import find_outcome, payloads_of
from patchwright.core.types.work import FileStat, Outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.runs.selection import SHORT_ID_LENGTH

_SHA_CHARS: Final = 10


@dataclass(frozen=True)
class FinishedRun:
    """How a run ended, and where its result is.

    `files` is what it changes; `patch` is the file of a change that is on no branch.
    `folder` is the repository on this machine, None for one on a forge. With
    `is_left_out` the change is not in the work tree, where it was wanted.
    """

    outcome: Outcome
    delivered: DeliveryResult
    files: tuple[FileStat, ...] = ()
    patch: Path | None = None
    folder: Path | None = None
    is_left_out: bool = False


def finished_run(events: Sequence[Event]) -> FinishedRun | None:
    """Return how a run ended by its log, and where it says that the result is."""
    outcome = find_outcome(events)
    if outcome is None:
        return None
    result = next(payloads_of(reversed(events), ResultDelivered), ResultDelivered())
    delivered = DeliveryResult(
        branch=result.branch,
        head_sha=result.head_sha,
        pull_request_url=result.pull_request_url,
    )
    return FinishedRun(
        outcome,
        delivered,
        result.files,
        Path(result.patch) if result.patch else None,
        Path(result.folder) if result.folder else None,
    )


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
    base = outcome.base_branch or outcome.base_sha[:_SHA_CHARS]
    compared = f"{git} diff {shlex.quote(base)}...{branch}"
    # What was cut short is to be gone on with, and not to be taken as it is.
    then = "merge" if outcome.proposes_change else "switch"
    return (compared, f"{git} {then} {branch}")


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
