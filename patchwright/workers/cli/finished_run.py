"""How a run of `resolve` ended, and where its result is."""

from dataclasses import dataclass
from pathlib import Path

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
