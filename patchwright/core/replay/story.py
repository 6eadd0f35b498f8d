"""A run as people read it: its steps, and in a few words what came of each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, assert_never

from patchwright.core.agent.loop_finder import describe_step
from patchwright.core.agent.results import PROOF_SHORT
from patchwright.core.events import types as ev
from patchwright.core.events.state import ModelCall, RunMetrics, measure, read_call
from patchwright.core.replay.trajectory import RunFacts, facts_of, find_outcome
from patchwright.core.replay.wait_words import wait_words
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Evidence, EvidenceRole, RunStatus
from patchwright.core.types.work import Outcome

_MAX_CHARS: Final = 200
_BAD_STATES: Final = frozenset({ev.AgentState.ERROR, ev.AgentState.STOPPED})


class Tone(StrEnum):
    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    OPEN = "open"


class Phrase(Value):
    """A short text, and whether it is good news."""

    text: str
    tone: Tone = Tone.PLAIN


NO_RESULT_YET = Phrase(text="no result", tone=Tone.OPEN)


def observation_phrase(observation: ev.Observation) -> Phrase:
    if isinstance(observation, ev.SandboxObservation):
        return _sandbox_phrase(observation)
    match observation:
        case ev.McpResult(failed=failed):
            return _bad("it failed") if failed else Phrase(text="ok", tone=Tone.GOOD)
        case ev.DelegateResult(outcome=outcome, iterations=steps):
            return Phrase(text=f"{outcome} after {_counted(steps, 'step')}")
        case ev.Recalled(sources=sources):
            return Phrase(text=", ".join(sources) or "nothing found")
        case ev.UserRejected() | ev.PlanApproved():
            return _verdict(observation)
        case ev.StateChanged():
            return state_phrase(observation)
        case ev.LoopDetected(pattern=pattern):
            return Phrase(text=f"loop: {pattern}", tone=Tone.OPEN)
        case ev.Condensed():
            return condensed_phrase(observation)
        case ev.Null():
            return Phrase(text="")
        case _:
            assert_never(observation)


def _verdict(answer: ev.UserRejected | ev.PlanApproved) -> Phrase:
    if isinstance(answer, ev.PlanApproved):
        return Phrase(text="plan approved", tone=Tone.GOOD)
    return _bad(f"rejected: {answer.text}")


def _sandbox_phrase(observation: ev.SandboxObservation) -> Phrase:
    match observation:
        case ev.CommandOutput():
            return _command(observation)
        case ev.IpythonOutput(failed=failed):
            return _bad("it raised") if failed else Phrase(text="ran", tone=Tone.GOOD)
        case ev.FileContent(text=text):
            return Phrase(text=_counted(len(text.splitlines()), "line"))
        case ev.FileEdited(diff=diff):
            return _edit(diff)
        case ev.SearchResult(matches=matches):
            return Phrase(text=_counted(matches, "match", "matches"))
        case ev.BrowserOutput(status=status, title=title):
            return Phrase(text=f"{status or 'read'} {title}".strip())
        case ev.ErrorObservation(reason=reason, text=text) if reason == PROOF_SHORT:
            return Phrase(text=first_line(text), tone=Tone.OPEN)
        case ev.ErrorObservation(text=text):
            return _bad(text)
        case _:
            assert_never(observation)


def condensed_phrase(condensed: ev.Condensed) -> Phrase:
    sizes = f"{condensed.bytes_before:,} to {condensed.bytes_after:,} bytes"
    how = "with a summary" if condensed.summary else "older results left out"
    return Phrase(text=f"condensed from {sizes}, {how}")


def state_phrase(changed: ev.StateChanged) -> Phrase:
    if changed.wait is not None and changed.until is not None:
        began = changed.until - timedelta(seconds=changed.wait.seconds)
        return Phrase(text=wait_words(changed, began), tone=Tone.OPEN)
    tone = Tone.BAD if changed.state in _BAD_STATES else Tone.PLAIN
    until = f" until {changed.until:%H:%M:%S}" if changed.until else ""
    why = f" ({changed.reason})" if changed.reason else ""
    return Phrase(text=f"{changed.state}{until}{why}", tone=tone)


def first_line(text: str) -> str:
    """Return the first line that says something, bounded."""
    lines = (line.strip() for line in text.splitlines())
    line = next((line for line in lines if line), "")
    return line if len(line) <= _MAX_CHARS else f"{line[: _MAX_CHARS - 1]}…"


def _command(output: ev.CommandOutput) -> Phrase:
    if output.still_running:
        return Phrase(text="still running", tone=Tone.OPEN)
    if output.exit_code is None:
        return _bad("no exit code")
    tone = Tone.GOOD if output.exit_code == 0 else Tone.BAD
    return Phrase(text=f"exit {output.exit_code}", tone=tone)


def _edit(diff: str) -> Phrase:
    body = [one for one in diff.splitlines() if not one.startswith(("+++ ", "--- "))]
    added = sum(line.startswith("+") for line in body)
    removed = sum(line.startswith("-") for line in body)
    return Phrase(text=f"+{added} -{removed}" if body else "no change")


def _bad(text: str) -> Phrase:
    return Phrase(text=first_line(text), tone=Tone.BAD)


def _counted(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


class CallSummary(Value):
    """One call of a reply, and its result; the ids are those of its events.

    `action_id` is None for a call that was never sent.
    """

    call_id: str
    kind: str
    text: str
    result: Phrase = NO_RESULT_YET
    action_id: int | None = None
    result_id: int | None = None


class Step(Value):
    """One reply of the model and what was done about it.

    `number` counts the replies of the whole run from 1. `agent` is empty for the run's
    own agent, and `depth` says how many delegations down it is.
    """

    number: int
    event_id: int
    at: datetime
    agent: str
    depth: int
    said: str
    call: ModelCall
    acts: tuple[CallSummary, ...] = ()


class StoryNote(Value):
    """Something that happened beside the steps; `kind` is that of its event."""

    event_id: int
    at: datetime
    kind: str
    agent: str
    depth: int
    text: str
    tone: Tone = Tone.PLAIN
    call: ModelCall | None = None


class Story(Value):
    """A whole run. Without an `outcome` it had not ended."""

    facts: RunFacts
    parts: tuple[Step | StoryNote, ...]
    metrics: RunMetrics
    outcome: Outcome | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(part for part in self.parts if isinstance(part, Step))

    @property
    def remarks(self) -> tuple[StoryNote, ...]:
        return tuple(part for part in self.parts if isinstance(part, StoryNote))


def note_phrase(event: ev.Event) -> Phrase | None:
    """Return what to say of an event, or None where the steps and the end say it."""
    payload = event.payload
    if isinstance(payload, ev.Steering):
        return _steering_phrase(event.source, payload)
    if isinstance(payload, ev.StateChanged | ev.Condensed | ev.LoopDetected):
        return observation_phrase(payload)
    match payload:
        case ev.ModelCalled():
            return _called(payload)
        case ev.ConfirmationAsked(risk=risk, why=why):
            reasons = f": {'; '.join(why)}" if why else ""
            return Phrase(text=f"asks before a {risk}-risk action{reasons}")
        case ev.EvidenceRecorded(evidence=evidence):
            return evidence_phrase(evidence)
        case ev.RequestBlocked():
            return _blocked(payload)
        case ev.SetUpRestored(made_at=made_at):
            return Phrase(
                text=f"set-up from the cache, made at {made_at:%Y-%m-%d %H:%M}Z"
            )
        case ev.Unknown(kind=kind):
            return Phrase(text=f"{kind}: not known to this version", tone=Tone.OPEN)
        case _:
            return None


_VERDICTS: Final = {
    ev.AgentState.USER_CONFIRMED: "approves",
    ev.AgentState.USER_REJECTED: "rejects it",
}


def _steering_phrase(source: ev.Source, steering: ev.Steering) -> Phrase:
    match steering:
        case ev.Message(text=text):
            return Phrase(text=f"{source} says: {first_line(text)}")
        case ev.ChangeState(state=state, reason=reason):
            wish = _VERDICTS.get(state, f"wants it {state}")
            return Phrase(text=f"{reason or source} {wish}")
        case ev.RaiseLimits():
            return Phrase(text=_raised(steering))
        case _:
            assert_never(steering)


def evidence_phrase(one: Evidence) -> Phrase:
    """Say how a command of the proof ended, and whether that was hoped for."""
    command = " ".join(one.command.split())
    text = f"{one.role.words}: {exit_text(one)}: {command}"
    return Phrase(text=text, tone=evidence_tone(one))


def evidence_tone(one: Evidence) -> Tone:
    """Tell what was hoped for: to fail before the change, and to pass after it.

    The repository's own tests may have failed before as well, and a part of the change
    need not be proven: by itself neither is good or bad.
    """
    ran = one.exit_code is not None and one.status in _TESTS_RAN
    match one.role:
        case EvidenceRole.BEFORE:
            return Tone.GOOD if ran and one.exit_code != 0 else Tone.BAD
        case EvidenceRole.AFTER | EvidenceRole.BASE_TESTS:
            return Tone.GOOD if one.exit_code == 0 else Tone.BAD
        case EvidenceRole.SUITE_BEFORE | EvidenceRole.SUITE_AFTER:
            return Tone.GOOD if one.exit_code == 0 else Tone.OPEN
        case EvidenceRole.WITHOUT_PART:
            return Tone.GOOD if ran and one.exit_code != 0 else Tone.OPEN
        case _:
            assert_never(one.role)


# Only these say anything about the code.
_TESTS_RAN: Final = frozenset({RunStatus.RAN, RunStatus.UNREAD})


def exit_text(one: Evidence) -> str:
    return "no exit code" if one.exit_code is None else f"exit {one.exit_code}"


def _blocked(blocked: ev.RequestBlocked) -> Phrase:
    place = f"{blocked.host}:{blocked.port}" if blocked.port else blocked.host
    times = "" if blocked.count == 1 else f", {blocked.count} times"
    text = f"no way out to {place}{times}"
    return Phrase(text=text, tone=Tone.OPEN)


def _called(called: ev.ModelCalled) -> Phrase:
    if called.failure:
        text = f"asked a model to {called.role}: {called.failure}"
        return Phrase(text=text, tone=Tone.BAD)
    return Phrase(text=f"asked a model to {called.role}: {first_line(called.text)}")


def _raised(raised: ev.RaiseLimits) -> str:
    parts = [
        f"{raised.iterations} steps" if raised.iterations else "",
        f"${raised.cost_usd:.2f}" if raised.cost_usd else "",
    ]
    more = " and ".join(part for part in parts if part) or "nothing"
    return f"{raised.reason or 'somebody'} allows {more} more"


def tell_story(events: Sequence[ev.Event]) -> Story:
    """Return the story of one run."""
    teller = _Teller()
    for event in events:
        teller.add(event)
    return Story(
        facts=facts_of(events),
        parts=teller.parts(),
        metrics=measure(events),
        outcome=find_outcome(events),
    )


@dataclass
class _OpenStep:
    """A step while its acts come in, by the id of the call."""

    step: Step
    acts: dict[str, CallSummary] = field(default_factory=dict)

    def close(self) -> Step:
        return self.step.replace(acts=tuple(self.acts.values()))


class _Teller:
    """Reads events in order; what comes in later completes what is there."""

    def __init__(self) -> None:
        self._parts: list[_OpenStep | StoryNote] = []
        self._newest: dict[str, _OpenStep] = {}
        self._depths: dict[str, int] = {"": 0}
        self._steps = 0

    def parts(self) -> tuple[Step | StoryNote, ...]:
        return tuple(
            part.close() if isinstance(part, _OpenStep) else part
            for part in self._parts
        )

    def add(self, event: ev.Event) -> None:
        payload = event.payload
        step = self._newest.get(payload.agent)
        act = step.acts.get(payload.call_id) if step else None
        if isinstance(payload, ev.ModelReply):
            self._begin_step(event, payload)
        elif step and act and isinstance(payload, ev.Action):
            self._note_delegate(event.id, payload)
            step.acts[act.call_id] = _sent_off(act, payload, event.id)
        elif step and act and isinstance(payload, ev.Observation):
            step.acts[act.call_id] = act.replace(
                result=observation_phrase(payload), result_id=event.id
            )
        elif words := note_phrase(event):
            self._parts.append(
                StoryNote(
                    event_id=event.id,
                    at=event.at,
                    kind=payload.kind,
                    agent=payload.agent,
                    depth=self._depth(payload.agent),
                    text=words.text,
                    tone=words.tone,
                    call=read_call(event),
                )
            )

    def _note_delegate(self, event_id: int, action: ev.Action) -> None:
        if isinstance(action, ev.Delegate):
            self._depths[str(event_id)] = self._depth(action.agent) + 1

    def _depth(self, agent: str) -> int:
        return self._depths.get(agent, 1)

    def _begin_step(self, event: ev.Event, reply: ev.ModelReply) -> None:
        self._steps += 1
        call = read_call(event)
        assert isinstance(call, ModelCall)  # noqa: S101 - a reply always is one
        step = Step(
            number=self._steps,
            event_id=event.id,
            at=event.at,
            agent=reply.agent,
            depth=self._depth(reply.agent),
            said=first_line(reply.text),
            call=call,
        )
        acts = {call.id: _asked(call, reply.malformed) for call in reply.tool_calls}
        self._newest[reply.agent] = _OpenStep(step, acts)
        self._parts.append(self._newest[reply.agent])


def _asked(call: ev.ToolCall, malformed: dict[str, str]) -> CallSummary:
    broken = " (broken arguments)" if call.id in malformed else ""
    return CallSummary(call_id=call.id, kind=call.name, text=f"{call.name}{broken}")


def _sent_off(act: CallSummary, action: ev.Action, action_id: int) -> CallSummary:
    return act.replace(
        kind=action.kind, text=describe_step(action), action_id=action_id
    )
