"""The progress of a run, computed from its events for people who watch it."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from patchwright.core.agent.loop_finder import describe_step
from patchwright.core.events import types as ev
from patchwright.core.events.state import WAITING, RunState, fold
from patchwright.core.replay.story import Tone, evidence_tone, exit_text
from patchwright.core.replay.wait_words import wait_words
from patchwright.core.text.escape import inline_code
from patchwright.core.types.evidence import Evidence, EvidenceRole
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.outcome_kinds import display_of
from patchwright.resolver.messages.status import ApprovedPlan, Progress

_PROVING = "Proving it in fresh sandboxes"
_CHANGE_MADE = "Change made"
_WORK_ENDED = "Agent finished"
_LOOKING = "Checking the change"
_RESUMING = "Resuming"


class ProgressTracker:
    """Keeps a `Progress` up to date, event by event."""

    def __init__(self, sandbox: str, started_at: datetime) -> None:
        self._checked_out = f"Repository checked out in a {sandbox} sandbox"
        self._last_at = started_at
        self._seconds = 0.0
        self._state = RunState()
        # Whether the agent's newest reply is at work, and what it did when it stopped.
        self._is_at_work = False
        self._stopped_at = ""
        # What it did when it began to wait, what it waits with, and who has said yes.
        self._waited_at, self._proposed, self._confirmed_by = "", "", ""
        self._wait: ev.StateChanged | None = None
        self._shown = Progress(state="running", doing="Reading the thread")

    def progress(self, now: datetime) -> Progress:
        """Return the progress at this time, even if there was no new event."""
        seconds = self._seconds + self._since_last(now)
        shown = self._shown.replace(seconds=seconds)
        if self._wait is None:
            return shown
        return shown.replace(doing=wait_words(self._wait, now))

    def add(self, event: ev.Event) -> Progress:
        self._count(event)
        if isinstance(event.payload, ev.StateChanged):
            is_wait = event.payload.state is ev.AgentState.RATE_LIMITED
            self._wait = event.payload if is_wait else None
        self._state = fold(self._state, event)
        if isinstance(event.payload, ev.ModelReply) and not event.payload.agent:
            calls = event.payload.tool_calls
            self._is_at_work = all(call.name != "finish" for call in calls)
        self._shown = self._after(event).replace(
            iterations=self._state.iterations,
            usage=self._state.usage,
            more_iterations=self._state.more_iterations,
            more_cost_usd=self._state.more_cost_usd,
            seconds=self._seconds,
        )
        return self._shown

    def _count(self, event: ev.Event) -> None:
        self._seconds += self._since_last(event.at)
        self._last_at = event.at

    def _since_last(self, now: datetime) -> float:
        """Return the time since the last event; zero while a person must answer."""
        if self._state.state in WAITING:
            return 0.0
        return max(0.0, (now - self._last_at).total_seconds())

    def _after(self, event: ev.Event) -> Progress:
        """Return the progress after an event, without the figures."""
        payload, shown = event.payload, self._shown
        if isinstance(payload, ev.RunStarted):
            return shown.replace(
                doing="Preparing the sandbox", notes=payload.task.notes
            )
        if isinstance(payload, ev.StateChanged):
            return self._change(payload, event.at)
        if isinstance(payload, ev.ProofStarted):
            return self._proof()
        if isinstance(payload, ev.Finish) and not payload.agent:
            return self._end_of_work(payload)
        if isinstance(payload, ev.EvidenceRecorded):
            return _with_evidence(shown, payload.evidence)
        if isinstance(payload, ev.OutcomeReached | ev.PlanApproved):
            return self._milestone(payload)
        if isinstance(payload, ev.RunCommand) and event.source is ev.Source.SYSTEM:
            command = inline_code(_shortened(payload.command))
            return shown.replace(doing=f"Setting up: {command}")
        if isinstance(payload, ev.ModelReply) and not payload.agent:
            return shown.replace(doing=f"Step {self._state.iterations}")
        if isinstance(payload, ev.Action) and event.source is ev.Source.AGENT:
            return self._step(payload)
        return shown

    def _change(self, change: ev.StateChanged, at: datetime) -> Progress:
        shown = self._shown
        if change.state is ev.AgentState.RATE_LIMITED:
            return shown.replace(doing=wait_words(change, at))
        if change.state is ev.AgentState.USER_CONFIRMED:
            self._confirmed_by = change.reason
        if change.state is not ev.AgentState.RUNNING:
            return shown
        if self._checked_out in shown.done:
            return shown.replace(doing=_RESUMING)
        done = (*shown.done, self._checked_out)
        return shown.replace(done=done, doing="Reading the request")

    def _step(self, action: ev.Action) -> Progress:
        step = f"Step {self._state.iterations}: {inline_code(describe_step(action))}"
        if isinstance(action, ev.WriteTodos) and not action.agent:
            return self._shown.replace(doing=step, todos=action.todos)
        return self._shown.replace(doing=step)

    def _proof(self) -> Progress:
        """Return the progress at a proof; an earlier one was of another change.

        The work of an agent that was cut short is proven too, as far as it came.
        """
        self._stopped_at = self._shown.doing if self._is_at_work else ""
        done = _WORK_ENDED if self._is_at_work else _CHANGE_MADE
        return self._shown.replace(then=(done,), missed=(), doing=_PROVING)

    def _end_of_work(self, finish: ev.Finish) -> Progress:
        """Return the progress after a finish that counts; its proof has often ended."""
        shown = self._shown
        if _CHANGE_MADE in shown.then:
            return shown.replace(doing=_LOOKING)
        proves = bool(finish.test_commands)
        done = _CHANGE_MADE if proves else _WORK_ENDED
        return shown.replace(
            then=(*shown.then, done), doing=_PROVING if proves else _LOOKING
        )

    def _milestone(self, reached: ev.OutcomeReached | ev.PlanApproved) -> Progress:
        if isinstance(reached, ev.OutcomeReached):
            return self._outcome(reached.outcome)
        plan = ApprovedPlan(text=self._proposed, by=self._confirmed_by)
        return self._shown.replace(plan=plan)

    def _outcome(self, outcome: Outcome) -> Progress:
        """Keep the last activity of a run that stopped there, or that waits."""
        doing = self._shown.doing
        at = self._waited_at if doing == _RESUMING else doing
        if outcome.waits:
            self._waited_at, self._proposed = at, outcome.summary
            return self._shown.replace(doing=at)
        if display_of(outcome.kind).was_cut_short:
            return self._shown.replace(doing=self._stopped_at or at)
        doing = "Delivering" if outcome.head_sha else "Answering"
        return self._shown.replace(doing=doing)


def _with_evidence(shown: Progress, one: Evidence) -> Progress:
    """Add how a command of the proof ended, and whether that was hoped for."""
    if one.role is EvidenceRole.WITHOUT_PART:
        return shown.replace(then=_with_part_taken_out(shown.then))
    line = f"{inline_code(_shortened(one.command))} {one.role.words}: {exit_text(one)}"
    missed = (line,) if evidence_tone(one) is Tone.BAD else ()
    return shown.replace(then=(*shown.then, line), missed=(*shown.missed, *missed))


def _with_part_taken_out(then: tuple[str, ...]) -> tuple[str, ...]:
    """Count the parts in one line: a change can have many."""
    known = [line for line in then if line.startswith(_PARTS)]
    number = int(known[0].removeprefix(_PARTS)) + 1 if known else 1
    return (*(line for line in then if line not in known), f"{_PARTS}{number}")


_PARTS: Final = "Parts of the change removed in turn: "


def _shortened(command: str) -> str:
    return "".join(command.splitlines()[:1])[:80]


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
        """Show the progress if the interval is over, or immediately with `at_once`."""
        now = self._monotonic()
        if now - self._last < self._interval_s and not at_once:
            return
        self._last = now
        self._show(progress)
