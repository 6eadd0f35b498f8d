"""How a run of `resolve` ended, and where its result is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from patchwright.core.events.observations import ResultDelivered
from patchwright.core.events.types import Event
from patchwright.core.replay.trajectory import find_outcome, payloads_of
from patchwright.core.types.work import FileStat, Outcome
from patchwright.resolver.messages.status import DeliveryResult


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
