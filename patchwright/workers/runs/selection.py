"""The stages of runs and the start of their ids; light, for the command line."""

from collections.abc import Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

from patchwright.core.types.errors import SettingsError


class RunStage(StrEnum):
    """How far a run is; of one of this machine it is not known whether it works."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DELIVERING = "delivering"
    ENDED = "ended"
    UNFINISHED = "unfinished"


SHORT_ID_LENGTH: Final = 8
_MOST_NAMED: Final = 3


class UnknownRunError(SettingsError):
    """No run has that id, or more than one begins so."""


def choose_run_id(wanted: str, fitting: Sequence[str], others: Sequence[str]) -> str:
    """Return the one id that begins so; the error names those that are near.

    `fitting` are the ids that begin with `wanted`, and `others` some that need not.
    """
    if len(fitting) == 1 or wanted in fitting:
        return wanted if wanted in fitting else fitting[0]
    if fitting:
        names = ", ".join(sorted(fitting)[:_MOST_NAMED])
        raise UnknownRunError(
            f"more than one run id begins with {wanted!r}; type more of the id: {names}"
        )
    near = get_close_matches(wanted, others, _MOST_NAMED, cutoff=0.0)
    hint = f"the nearest are {', '.join(near)}" if near else "there are no runs yet"
    raise UnknownRunError(
        f"no run id begins with {wanted!r}; {hint}. `patchwright runs list` shows them"
    )
