"""Do not begin what was called off meanwhile."""

from typing import Final

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import AgentState, ChangeState, Event, Source
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome
from patchwright.workers.store.job import Job
from patchwright.workers.store.threads import ThreadStore

_CHANGES: Final = frozenset({"change_state", "state_changed"})


def find_stop(log: EventLog, job: Job, start_id: int) -> Outcome | None:
    """Return how a run ends if an operator's last word before `start_id` was stop.

    A run that has begun hears it itself, and so keeps what it has done.
    """
    last = log.read(1, start_id - 1, limit=1, reverse=True, kinds=_CHANGES)
    words = [one.payload for one in last if _is_operators(one, job)]
    for said in words:
        if isinstance(said, ChangeState) and said.state is AgentState.STOPPED:
            text = f"Stopped by {said.reason}, before it had begun."
            return service_outcome(OutcomeKind.STOPPED, "asked", text)
    return None


def _is_operators(event: Event, job: Job) -> bool:
    """Tell whether an operator has said it, and not to an earlier job."""
    return event.source is Source.USER and event.at >= job.created_at


def find_closed_thread(threads: ThreadStore, job: Job) -> Outcome | None:
    """Return how a run ends whose thread was closed while it waited."""
    closed_at = threads.closed_at(job.trigger.thread)
    if closed_at is None or closed_at <= job.created_at:
        return None
    text = "The thread was closed before the run had begun."
    return service_outcome(OutcomeKind.STOPPED, "thread-closed", text)
