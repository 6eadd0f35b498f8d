"""Describe the result of an action, or another event, in a few words."""

from enum import StrEnum
from typing import Final, assert_never

from patchwright.core.events import types as ev
from patchwright.core.types.base import Value

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
        case ev.ErrorObservation(text=text):
            return _bad(text)
        case _:
            assert_never(observation)


def condensed_phrase(condensed: ev.Condensed) -> Phrase:
    sizes = f"{condensed.bytes_before:,} to {condensed.bytes_after:,} bytes"
    how = "with a summary" if condensed.summary else "older results left out"
    return Phrase(text=f"condensed from {sizes}, {how}")


def state_phrase(changed: ev.StateChanged) -> Phrase:
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
