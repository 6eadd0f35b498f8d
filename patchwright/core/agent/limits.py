"""Decide whether a run may make its next model call."""

from patchwright.core.events.state import RunState
from patchwright.core.events.types import AgentState
from patchwright.core.types.base import Value
from patchwright.core.types.people import called_login
from patchwright.core.types.work import Limits, OutcomeKind


class Stop(Value):
    """Why a run ends here; `text` is a sentence for people, which may call `by`."""

    kind: OutcomeKind
    reason: str
    text: str
    by: str = ""


def must_stop(run: RunState, limits: Limits, elapsed_s: float) -> Stop | None:
    """Return what forbids one more model call, if anything does.

    `limits` are those of the start. Money is not judged here: the purse reserves it,
    call by call.
    """
    if run.wanted is not None and run.wanted.state is AgentState.STOPPED:
        return Stop(
            kind=OutcomeKind.STOPPED,
            reason="asked",
            text=f"Stopped by {run.wanted.reason or 'request'}.",
            by=called_login(run.wanted.reason),
        )
    allowed = run.allowed(limits)
    if run.iterations >= allowed.max_iterations:
        return Stop(
            kind=OutcomeKind.OVER_LIMIT,
            reason="iterations",
            text=f"The limit of {allowed.max_iterations} steps was reached.",
        )
    tokens = run.usage.tokens_in + run.usage.tokens_out
    if tokens >= allowed.max_tokens:
        return Stop(
            kind=OutcomeKind.OVER_LIMIT,
            reason="tokens",
            text=f"The limit of {allowed.max_tokens:,} tokens was reached.",
        )
    if elapsed_s >= allowed.max_minutes * 60:
        return Stop(
            kind=OutcomeKind.TIMED_OUT,
            reason="time",
            text=f"The limit of {allowed.max_minutes:g} minutes was reached.",
        )
    return None


def out_of_tokens(limits: Limits) -> Stop:
    """Return that one more call could pass the ceiling of tokens."""
    return Stop(
        kind=OutcomeKind.OVER_LIMIT,
        reason="tokens",
        text=f"The limit of {limits.max_tokens:,} tokens leaves no room for one more "
        "model call.",
    )
