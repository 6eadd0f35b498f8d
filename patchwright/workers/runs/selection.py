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
# Out of 1: of three characters that were typed, one may be wrong.
_ALIKE: Final = 0.6


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
    raise UnknownRunError(f"no run id begins with {wanted!r}; {_hint(wanted, others)}")


def _hint(wanted: str, others: Sequence[str]) -> str:
    """Name the runs whose ids begin almost so: a key was missed."""
    if not others:
        return "there are no runs yet"
    by_beginning = {one[: len(wanted)]: one[:SHORT_ID_LENGTH] for one in others}
    near = get_close_matches(wanted, by_beginning, _MOST_NAMED, cutoff=_ALIKE)
    if near:
        return f"did you mean {' or '.join(by_beginning[one] for one in near)}?"
    return "`patchwright runs list` shows all runs"
