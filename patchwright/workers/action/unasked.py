"""Say why nothing is done, and what would have been heard."""

from typing import Final

import structlog

from patchwright.core.text.fence import inline_code
from patchwright.core.types.work import OutcomeKind
from patchwright.integrations.github.webhook import Listening
from patchwright.workers.action.check import Accord
from patchwright.workers.action.place import Place
from patchwright.workers.action.result import Grade, Result

_NOT_ASKED: Final = "not-asked"
_GATE: Final = "The workflow's own condition must let the same through."

log = structlog.get_logger(__name__)


def unasked(
    reason: str, workflow_job: Place, listening: Listening, accord: Accord | None
) -> Result:
    """Return how it ends where the event asks for nothing.

    Where the workflow lets through what is not heard, it is told as a warning.
    """
    log.info("not_asked", reason=reason, listens_for=listening.mention)
    text = (
        f"Nobody asked for anything ({reason}): {_event(workflow_job)} by "
        f"{workflow_job.actor or 'somebody'}. This step listens for {_heard(listening)}. "
        f"{f'About the phrase: {accord}' if accord else _GATE}"
    )
    is_sound = accord is None or accord.is_sound
    outputs = {
        "outcome": OutcomeKind.REFUSED,
        "error-code": _NOT_ASKED,
        "summary": text,
    }
    return Result(Grade.GOOD if is_sound else Grade.UNRESOLVED, outputs, text)


def _event(workflow_job: Place) -> str:
    action = str(workflow_job.event.get("action") or "")
    return f"{workflow_job.event_name} ({action})" if action else workflow_job.event_name


def _heard(listening: Listening) -> str:
    heard = [
        f"the mention {inline_code(listening.mention)}",
        f"the label {inline_code(listening.label)}",
    ]
    if listening.assignee:
        heard.append(f"an assignment of {inline_code(listening.assignee)}")
    return ", ".join(heard)
