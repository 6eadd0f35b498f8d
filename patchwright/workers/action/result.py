"""The result of one use of the Action, also where nothing was asked for."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, assert_never

import structlog

from patchwright.core.text.escape import inline_code
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules
from patchwright.resolver.messages.outcome_kinds import display_of
from patchwright.workers.action.finish import OUTPUTS
from patchwright.workers.action.workflow import WorkflowCheck, WorkflowJob

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


def grade_of(outcome: Outcome) -> Grade:
    code = display_of(outcome.kind).exit_code
    match code:
        case 0:
            is_proven = outcome.proof is Proof.PROVEN or not outcome.proposes_change
            return Grade.GOOD if is_proven else Grade.UNPROVEN
        case 1:
            return Grade.UNRESOLVED
        case 3:
            return Grade.ERROR
        case _:
            assert_never(code)


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


_NOT_ASKED: Final = "not-asked"
_CONDITION: Final = "The workflow's own `if:` must allow the same."

log = structlog.get_logger(__name__)


def no_trigger_result(
    reason: str,
    workflow_job: WorkflowJob,
    rules: GitHubTriggerRules,
    workflow_check: WorkflowCheck | None,
) -> Result:
    """Return the result of an event without a request.

    If the workflow starts on a phrase that does not count, it is a warning.
    """
    log.info("not_asked", reason=reason, listens_for=rules.mention)
    text = (
        f"There is no request ({reason}): {_event_name(workflow_job)} by "
        f"{workflow_job.actor or 'somebody'}. This step starts on "
        f"{_listens_for(rules)}. "
        f"{f'About the phrase: {workflow_check}' if workflow_check else _CONDITION}"
    )
    is_sound = workflow_check is None or workflow_check.is_sound
    outputs = {
        "outcome": OutcomeKind.REFUSED,
        "error-code": _NOT_ASKED,
        "summary": text,
    }
    return Result(Grade.GOOD if is_sound else Grade.UNRESOLVED, outputs, text)


def _event_name(workflow_job: WorkflowJob) -> str:
    action = str(workflow_job.event.get("action") or "")
    return (
        f"{workflow_job.event_name} ({action})" if action else workflow_job.event_name
    )


def _listens_for(rules: GitHubTriggerRules) -> str:
    triggers = [
        f"the mention {inline_code(rules.mention)}",
        f"the label {inline_code(rules.label)}",
    ]
    if rules.assignee:
        triggers.append(f"an assignment of {inline_code(rules.assignee)}")
    return ", ".join(triggers)
