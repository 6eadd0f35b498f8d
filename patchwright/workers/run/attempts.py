"""Where the attempts at one job begin in its log."""

from collections.abc import Sequence

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import AgentState, Source, StateChanged
from patchwright.core.types.base import Value
from patchwright.core.types.ids import JobId
from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome

_MOST = 3


class JobAttempt(Value):
    """`start_id` is the event it begins with; `earlier` are those of others."""

    start_id: int
    earlier: tuple[int, ...] = ()

    def start_of(self, begun_id: int) -> int:
        """Return where the attempt began in which that event was written.

        What was said before that was an answer to what the job had asked.
        """
        return max(one for one in self.earlier if one < begun_id)


def begin_attempt(log: EventLog, job_id: JobId, number: int) -> JobAttempt:
    """Mark that an attempt starts, and find those before it.

    The number does not say how many there were: one that was given back in good order
    is not counted.
    """
    run = f"run {job_id}, "
    earlier = _starts(log, run)
    reason = f"{run}attempt {number}"
    loading = StateChanged(state=AgentState.LOADING, reason=reason)
    started = log.append(Source.SYSTEM, loading)
    return JobAttempt(start_id=started.id, earlier=tuple(earlier))


def _starts(log: EventLog, run: str) -> Sequence[int]:
    changes = log.read(kinds=frozenset({"state_changed"}))
    return [
        event.id
        for event in changes
        if isinstance(event.payload, StateChanged)
        and event.payload.reason.startswith(run)
    ]


def lost_too_often(attempt: int) -> Outcome | None:
    if attempt <= _MOST:
        return None
    text = (
        f"The worker was lost {_MOST} times in the middle of this run, so it is "
        "not tried again. The service's log has the cause."
    )
    return service_outcome(OutcomeKind.FAILED, "worker-lost", text)
