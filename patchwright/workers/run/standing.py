"""Find out from its log how a run stands."""

from patchwright.core.events.log import EventLog
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import Event, OutcomeReached, RunStarted
from patchwright.core.types.base import Value
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.answers import RunStatus
from patchwright.resolver.messages.status import MessageHeader
from patchwright.resolver.progress import ProgressTracker


class RunDetails(Value):
    """What is fixed about a run, for those who ask about it.

    `admitted` is the rule that let it in, `sandbox` the kind it works in. With
    `keeps_out` its words may repeat what nobody may read beside the code. People who
    may write add at most `max_raise_usd` to what it may cost.
    """

    frame: MessageHeader
    trigger: Trigger
    admitted: str = ""
    sandbox: str = ""
    keeps_out: bool = False
    max_raise_usd: float = 0.0


def load_run_status(log: EventLog, about: RunDetails) -> RunStatus:
    """Read the run's events; one that has none yet has not begun."""
    standing = RunStatus(
        frame=about.frame, trigger=about.trigger, admitted=about.admitted
    )
    begun = log.read(limit=1, reverse=True, kinds=frozenset({"run_started"}))
    # The newest one may be of an earlier run of the conversation.
    started = begun[0].payload if begun else None
    if not isinstance(started, RunStarted) or started.run_id != about.frame.run_id:
        return standing
    state, watch = RunState(), ProgressTracker(about.sandbox, begun[0].at)
    posted, now = None, begun[0].at
    for event in log.read(begun[0].id):
        state, posted = fold(state, event), _posted(event) or posted
        watch.add(event)
        # The newest is the question itself, or came after it.
        now = event.at
    return standing.replace(
        task=started.task,
        progress=watch.progress(now),
        held=state.waiting_state,
        posted=posted,
    )


def _posted(event: Event) -> Outcome | None:
    match event.payload:
        case OutcomeReached(outcome=outcome) if outcome.waits:
            return outcome
        case _:
            return None
