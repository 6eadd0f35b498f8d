"""The result of one use of the Action: its outputs, and what the step summary says."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from patchwright.core.errors import PatchwrightError
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.workers.action.finish import OUTPUTS

CRASHED: Final = (
    "The run ended without a word: its process was killed, or the machine ran out of "
    "memory or time."
)


class Grade(StrEnum):
    """What `fail-on` goes by."""

    GOOD = "good"
    UNRESOLVED = "unresolved"
    ERROR = "error"


@dataclass(frozen=True)
class Result:
    """Outputs that are not in `outputs` are empty."""

    grade: Grade
    outputs: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""

    def write(self, path: Path, redact: Callable[[str], str]) -> None:
        """Put it in place of what was there, whole, and without secrets."""
        outputs = {name: redact(self.outputs.get(name, "")) for name in OUTPUTS}
        told = {
            "grade": self.grade,
            "outputs": outputs,
            "summary": redact(self.summary),
        }
        new = path.with_suffix(".new")
        new.write_text(json.dumps(told), "utf-8")
        new.replace(path)


def grade_of(outcome: Outcome) -> Grade:
    if outcome.kind.is_success:
        return Grade.GOOD
    is_error = outcome.kind is OutcomeKind.FAILED
    return Grade.ERROR if is_error else Grade.UNRESOLVED


def crash_result(known: Mapping[str, str]) -> Result:
    """Return what holds until the run has ended: that it has not."""
    return Result(
        Grade.ERROR,
        {
            **known,
            "outcome": OutcomeKind.FAILED,
            "error-code": "crashed",
            "summary": CRASHED,
        },
        f"**Failed** (`crashed`)\n\n{CRASHED}\n",
    )


def error_result(error: PatchwrightError) -> Result:
    """Return how it ends where no run could be begun."""
    text = str(error)
    outputs = {
        "outcome": OutcomeKind.FAILED,
        "error-code": error.reason,
        "summary": text,
    }
    return Result(Grade.ERROR, outputs, f"**Failed** (`{error.reason}`)\n\n{text}\n")
