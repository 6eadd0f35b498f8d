"""Say why nothing is done, and what would have been heard."""

from typing import Final

import structlog

from patchwright.core.text.fence import inline_code
from patchwright.core.types.work import OutcomeKind
from patchwright.integrations.github.webhook import GitHubTriggerRules
from patchwright.workers.action.check import WorkflowCheck
from patchwright.workers.action.place import WorkflowJob
from patchwright.workers.action.result import Grade, Result

_NOT_ASKED: Final = "not-asked"
_CONDITION: Final = "The workflow's own condition must let the same through."

log = structlog.get_logger(__name__)


def no_trigger_result(
    reason: str, workflow_job: WorkflowJob, listening: GitHubTriggerRules, workflow_check: WorkflowCheck | None
) -> Result:
    """Return how it ends where the event asks for nothing.

    Where the workflow lets through what is not heard, it is told as a warning.
    """
    log.info("not_asked", reason=reason, listens_for=listening.mention)
    text = (
        f"Nobody asked for anything ({reason}): {_event_name(workflow_job)} by "
        f"{workflow_job.actor or 'somebody'}. This step listens for {_listens_for(listening)}. "
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
    return f"{workflow_job.event_name} ({action})" if action else workflow_job.event_name


def _listens_for(listening: GitHubTriggerRules) -> str:
    heard = [
        f"the mention {inline_code(listening.mention)}",
        f"the label {inline_code(listening.label)}",
    ]
    if listening.assignee:
        heard.append(f"an assignment of {inline_code(listening.assignee)}")
    return ", ".join(heard)
