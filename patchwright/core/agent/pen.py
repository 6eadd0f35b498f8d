"""Write one agent's events."""

import structlog

from patchwright.core.agent.chronicle import RunLog
from patchwright.core.events.states import may_change
from patchwright.core.events.types import (
    AgentState,
    Event,
    Known,
    LoopDetected,
    Message,
    Source,
    StateChanged,
)

log = structlog.get_logger(__name__)


class EventWriter:
    """Puts the agent's name under what it writes; states are those of the whole run."""

    def __init__(self, run_log: RunLog, agent: str) -> None:
        self._run_log, self._agent = run_log, agent

    def write(self, source: Source, payload: Known, cause: int | None = None) -> Event:
        own = payload.replace(agent=self._agent)
        return self._run_log.append(source, own, cause)

    def note(self, payload: Message | LoopDetected, cause: int | None = None) -> None:
        """Tell the agent something in the system's name."""
        self.write(Source.SYSTEM, payload, cause)

    def change(self, state: AgentState, reason: str = "") -> None:
        """Bring the run into a state, unless it is in that already.

        One that the table does not foresee is a fault of ours, and no reason to lose a
        run.
        """
        before = self._run_log.state.state
        if state is before:
            return
        if not may_change(before, state):
            log.error("state_not_foreseen", before=before, after=state)
        changed = StateChanged(state=state, reason=reason)
        self._run_log.append(Source.SYSTEM, changed)
