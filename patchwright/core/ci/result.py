"""The result of a job in a CI, also where nothing was asked for."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from patchwright.core.text.escape import inline_code
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.outcome_kind import OutcomeKind

OUTPUTS: Final = (
    "outcome",
    "error-code",
    "summary",
    "pr-number",
    "pr-url",
    "branch",
    "base-sha",
    "head-sha",
    "comment-url",
    "tests-before",
    "tests-after",
    "proof",
    "evidence",
    "evidence-file",
    "patch-file",
    "trajectory-file",
    "receipt-file",
    "cost-usd",
    "tokens-in",
    "tokens-out",
    "model",
    "iterations",
    "duration-seconds",
    "run-id",
    "removed-content-count",
    "blocked-requests-count",
    "structured-output",
    "left-out",
)
CRASHED: Final = (
    "The run ended without a result: its process was killed, or the machine ran out "
    "of memory or time."
)


class Grade(StrEnum):
    """What `fail-on` goes by."""

    GOOD = "good"
    UNPROVEN = "unproven"
    UNRESOLVED = "unresolved"
    ERROR = "error"

    def fails(self, fail_on: str) -> bool:
        """Tell whether a job fails by it; what `fail_on` cannot mean is `error`."""
        return self in FAILING.get(fail_on, FAILING["error"])


FAILING: Final[Mapping[str, tuple[Grade, ...]]] = {
    "error": (Grade.ERROR,),
    "unresolved": (Grade.ERROR, Grade.UNRESOLVED),
    "unproven": (Grade.ERROR, Grade.UNRESOLVED, Grade.UNPROVEN),
    "never": (),
}


@dataclass(frozen=True)
class Result:
    """Outputs that are not in `outputs` are empty.

    `notices` are sentences about former names that the workflow still uses.
    """

    grade: Grade
    outputs: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""
    notices: tuple[str, ...] = ()

    def write(self, path: Path, redact: Callable[[str], str]) -> None:
        """Put it in place of what was there, whole, and without secrets."""
        outputs = {name: redact(self.outputs.get(name, "")) for name in OUTPUTS}
        values = {
            "grade": self.grade,
            "outputs": outputs,
            "summary": redact(self.summary),
            "notices": [redact(one) for one in self.notices],
        }
        new = path.with_suffix(".new")
        new.write_text(json.dumps(values), "utf-8")
        new.replace(path)


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


def cancelled_result(known: Mapping[str, str], run: str) -> Result:
    """Return the result of a job that was cancelled before it could report its own."""
    text = f"The {run} was cancelled before the run could report its result."
    outputs = {
        **known,
        "outcome": OutcomeKind.STOPPED,
        "error-code": "cancelled",
        "summary": text,
    }
    return Result(Grade.UNRESOLVED, outputs, f"**Stopped** (`cancelled`)\n\n{text}\n")


def read_result(path: Path) -> Result:
    """Return what a run has left; where that is none, that it has ended without."""
    try:
        told = json.loads(path.read_text("utf-8"))
        outputs = {str(name): str(text) for name, text in told["outputs"].items()}
        notices = tuple(map(str, told.get("notices", ())))
        return Result(Grade(told["grade"]), outputs, str(told["summary"]), notices)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return crash_result({})


def error_result(error: PatchwrightError) -> Result:
    """Return how it ends where no run could be begun."""
    text = str(error)
    outputs = {
        "outcome": OutcomeKind.FAILED,
        "error-code": error.reason,
        "summary": text,
    }
    return Result(Grade.ERROR, outputs, f"**Failed** (`{error.reason}`)\n\n{text}\n")


def not_asked_result(text: str, grade: Grade = Grade.GOOD) -> Result:
    """Return the result of an event without a request; `text` says what starts us."""
    outputs = {
        "outcome": OutcomeKind.REFUSED,
        "error-code": "not-asked",
        "summary": text,
    }
    return Result(grade, outputs, text)


def start_words(mention: str, label: str, assignee: str = "") -> str:
    """Say what starts a run."""
    triggers = [
        f"the mention {inline_code(mention)}",
        f"the label {inline_code(label)}",
    ]
    if assignee:
        triggers.append(f"an assignment of {inline_code(assignee)}")
    return ", ".join(triggers)
