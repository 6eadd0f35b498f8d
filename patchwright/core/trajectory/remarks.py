"""Say what happened in a run beside the steps of its agents."""

from typing import assert_never

from patchwright.core.events.types import (
    ChangeState,
    Condensed,
    ConfirmationAsked,
    Event,
    EvidenceRecorded,
    LoopDetected,
    Message,
    ModelCalled,
    RaiseLimits,
    RequestBlocked,
    Source,
    StateChanged,
    Steering,
    Unknown,
)
from patchwright.core.trajectory.words import (
    Tone,
    Phrase,
    first_line,
    observation_phrase,
)
from patchwright.core.types.work import Evidence, EvidenceRole


def note_phrase(event: Event) -> Phrase | None:
    """Return what to say of an event, or None where the steps and the end say it."""
    payload = event.payload
    if isinstance(payload, Steering):
        return _steering_phrase(event.source, payload)
    if isinstance(payload, StateChanged | Condensed | LoopDetected):
        return observation_phrase(payload)
    match payload:
        case ModelCalled():
            return _called(payload)
        case ConfirmationAsked(risk=risk, why=why):
            reasons = f": {'; '.join(why)}" if why else ""
            return Phrase(text=f"asks before a {risk}-risk action{reasons}")
        case EvidenceRecorded(evidence=evidence):
            return evidence_phrase(evidence)
        case RequestBlocked():
            return _blocked(payload)
        case Unknown(kind=kind):
            return Phrase(text=f"{kind}: not known to this version", tone=Tone.OPEN)
        case _:
            return None


def _steering_phrase(source: Source, steering: Steering) -> Phrase:
    match steering:
        case Message(text=text):
            return Phrase(text=f"{source} says: {first_line(text)}")
        case ChangeState(state=state, reason=reason):
            return Phrase(text=f"{reason or source} wants it {state}")
        case RaiseLimits():
            return Phrase(text=_raised(steering))
        case _:
            assert_never(steering)


def evidence_phrase(one: Evidence) -> Phrase:
    """Say how a command of the proof ended; it must fail before and pass after."""
    code = "no exit code" if one.exit_code is None else f"exit {one.exit_code}"
    expected = (one.role is EvidenceRole.BEFORE) != (one.exit_code == 0)
    command = " ".join(one.command.split())
    tone = Tone.GOOD if expected else Tone.BAD
    return Phrase(text=f"{one.role.words}: {code}: {command}", tone=tone)


def _blocked(blocked: RequestBlocked) -> Phrase:
    place = f"{blocked.host}:{blocked.port}" if blocked.port else blocked.host
    times = "" if blocked.count == 1 else f", {blocked.count} times"
    text = f"no way out to {place}{times}"
    return Phrase(text=text, tone=Tone.OPEN)


def _called(called: ModelCalled) -> Phrase:
    if called.failure:
        text = f"asked a model to {called.role}: {called.failure}"
        return Phrase(text=text, tone=Tone.BAD)
    return Phrase(text=f"asked a model to {called.role}: {first_line(called.text)}")


def _raised(raised: RaiseLimits) -> str:
    parts = [
        f"{raised.iterations} steps" if raised.iterations else "",
        f"${raised.cost_usd:.2f}" if raised.cost_usd else "",
    ]
    more = " and ".join(part for part in parts if part) or "nothing"
    return f"{raised.reason or 'somebody'} allows {more} more"
