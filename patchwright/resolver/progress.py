"""How far a run is, folded from its events for those who watch."""

from collections.abc import Callable
from datetime import datetime

from patchwright.core.agent.stuck import describe
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import (
    Action,
    AgentState,
    Event,
    EvidenceRecorded,
    Finish,
    OutcomeReached,
    Source,
    StateChanged,
)
from patchwright.core.text.fence import inline_code
from patchwright.core.types.work import Evidence
from patchwright.resolver.messages.status import Progress

_PROVING = "Proving it in fresh sandboxes"
_LOOKING = "Looking at what was changed"


class Watch:
    """Keeps a `Progress` up to date, event by event."""

    def __init__(self, sandbox: str, started_at: datetime) -> None:
        self._sandbox = sandbox
        self._started_at = started_at
        self._state = RunState()
        self._done: list[str] = []
        self._doing = "Preparing the sandbox"

    def add(self, event: Event) -> Progress:
        self._state = fold(self._state, event)
        payload = event.payload
        if isinstance(payload, StateChanged):
            self._change(payload)
        elif isinstance(payload, Finish):
            proves = bool(payload.test_commands)
            self._done.append("Change made" if proves else "Work ended")
            self._doing = _PROVING if proves else _LOOKING
        elif isinstance(payload, EvidenceRecorded):
            self._done.append(_evidence_line(payload.evidence))
        elif isinstance(payload, OutcomeReached):
            self._doing = "Delivering" if payload.outcome.head_sha else "Answering"
        elif isinstance(payload, Action) and event.source is Source.AGENT:
            self._doing = (
                f"Step {self._state.iterations}: {inline_code(describe(payload))}"
            )
        return self._progress(event.at)

    def _change(self, change: StateChanged) -> None:
        checked_out = f"Repository checked out in a {self._sandbox} sandbox"
        if change.state is AgentState.RATE_LIMITED and change.until is not None:
            until = f"{change.until:%H:%M:%S}Z"
            self._doing = f"Waiting until {until}, as the model's provider asks"
        elif change.state is AgentState.RUNNING and checked_out in self._done:
            self._doing = "Going on"
        elif change.state is AgentState.RUNNING:
            self._done.append(checked_out)
            self._doing = "Reading the request"

    def _progress(self, now: datetime) -> Progress:
        return Progress(
            state="running",
            done=tuple(self._done),
            doing=self._doing,
            iterations=self._state.iterations,
            usage=self._state.usage,
            seconds=(now - self._started_at).total_seconds(),
        )


def _evidence_line(evidence: Evidence) -> str:
    code = (
        "no exit code" if evidence.exit_code is None else f"exit {evidence.exit_code}"
    )
    command = inline_code(evidence.command.splitlines()[0][:80])
    return f"{command} {evidence.role} the change: {code}"


class Throttle:
    """Passes on the newest progress, but not more often than every `interval_s`."""

    def __init__(
        self,
        show: Callable[[Progress], None],
        monotonic: Callable[[], float],
        interval_s: float,
    ) -> None:
        self._show, self._monotonic = show, monotonic
        self._interval_s = interval_s
        self._last = float("-inf")

    def offer(self, progress: Progress, *, at_once: bool = False) -> None:
        """Show it if it is time for that, or `at_once` if nothing may follow soon."""
        now = self._monotonic()
        if now - self._last < self._interval_s and not at_once:
            return
        self._last = now
        self._show(progress)
