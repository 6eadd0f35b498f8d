"""Sum up what a run's log tells of its outcome, whatever the outcome is."""

import json

from patchwright.core.agent.chronicle import RunLog
from patchwright.core.agent.endings import AgentEnding
from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Message
from patchwright.core.types.work import Outcome, Task
from patchwright.resolver.blocked import sum_blocked_requests
from patchwright.resolver.setup import set_up_failures

_NO_RESULT = "Nothing that fits the schema of the result was handed over."


def complete_outcome(
    outcome: Outcome, task: Task, run_log: RunLog, ending: AgentEnding, start_id: int
) -> Outcome:
    """Return the outcome with what it took, and its notes after those of the task."""
    log, state = run_log.log, run_log.state
    notes = (*task.notes, *_notes_on(task, log, ending, start_id), *outcome.notes)
    return outcome.replace(
        base_branch=task.base_branch,
        base_sha=task.base_sha,
        usage=state.usage,
        iterations=state.iterations,
        notes=notes,
        removed=task.removed + _removed_later(log, start_id),
        blocked=sum_blocked_requests(log, start_id),
        structured=_structured(ending),
    )


def _notes_on(task: Task, log: EventLog, ending: AgentEnding, start_id: int) -> list[str]:
    """Say what failed of the set-up, and what was asked for and is missing."""
    notes = list(set_up_failures(log, start_id)) if task.setup_may_fail else []
    if task.result_schema and ending.finish and ending.finish.result is None:
        notes.append(_NO_RESULT)
    return notes


def _removed_later(log: EventLog, start_id: int) -> int:
    """Count the hidden things in what people have said to the run."""
    said = log.read(start_id, kinds=frozenset({"message"}))
    return sum(e.payload.removed for e in said if isinstance(e.payload, Message))


def _structured(ending: AgentEnding) -> str:
    if ending.finish is None or ending.finish.result is None:
        return ""
    return json.dumps(ending.finish.result, ensure_ascii=False)
