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
    Words,
    first_line,
    words_for,
)
from patchwright.core.types.work import Evidence, EvidenceRole


def remark_words(event: Event) -> Words | None:
    """Return what to say of an event, or None where the steps and the end say it."""
    payload = event.payload
    if isinstance(payload, Steering):
        return _steering_words(event.source, payload)
    if isinstance(payload, StateChanged | Condensed | LoopDetected):
        return words_for(payload)
    match payload:
        case ModelCalled():
            return _called(payload)
        case ConfirmationAsked(risk=risk, why=why):
            reasons = f": {'; '.join(why)}" if why else ""
            return Words(text=f"asks before a {risk}-risk action{reasons}")
        case EvidenceRecorded(evidence=evidence):
            return evidence_words(evidence)
        case RequestBlocked():
            return _blocked(payload)
        case Unknown(kind=kind):
            return Words(text=f"{kind}: not known to this version", tone=Tone.OPEN)
        case _:
            return None


def _steering_words(source: Source, steering: Steering) -> Words:
    match steering:
        case Message(text=text):
            return Words(text=f"{source} says: {first_line(text)}")
        case ChangeState(state=state, reason=reason):
            return Words(text=f"{reason or source} wants it {state}")
        case RaiseLimits():
            return Words(text=_raised(steering))
        case _:
            assert_never(steering)


def evidence_words(one: Evidence) -> Words:
    """Say how a command of the proof ended; it must fail before and pass after."""
    code = "no exit code" if one.exit_code is None else f"exit {one.exit_code}"
    expected = (one.role is EvidenceRole.BEFORE) != (one.exit_code == 0)
    command = " ".join(one.command.split())
    tone = Tone.GOOD if expected else Tone.BAD
    return Words(text=f"{one.role.words}: {code}: {command}", tone=tone)


def _blocked(blocked: RequestBlocked) -> Words:
    place = f"{blocked.host}:{blocked.port}" if blocked.port else blocked.host
    times = "" if blocked.count == 1 else f", {blocked.count} times"
    text = f"no way out to {place}{times}"
    return Words(text=text, tone=Tone.OPEN)


def _called(called: ModelCalled) -> Words:
    if called.failure:
        text = f"asked a model to {called.role}: {called.failure}"
        return Words(text=text, tone=Tone.BAD)
    return Words(text=f"asked a model to {called.role}: {first_line(called.text)}")


def _raised(raised: RaiseLimits) -> str:
    parts = [
        f"{raised.iterations} steps" if raised.iterations else "",
        f"${raised.cost_usd:.2f}" if raised.cost_usd else "",
    ]
    more = " and ".join(part for part in parts if part) or "nothing"
    return f"{raised.reason or 'somebody'} allows {more} more"
