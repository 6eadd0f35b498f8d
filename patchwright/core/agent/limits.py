"""Decide whether a run may make its next model call."""

from patchwright.core.events.state import RunState
from patchwright.core.events.types import AgentState
from patchwright.core.types.base import Value
from patchwright.core.types.people import login_in_mention
from patchwright.core.types.work import Limits, OutcomeKind


class LimitReached(Value):
    """Why a run ends here; `text` is a sentence for people, which may call `by`."""

    kind: OutcomeKind
    reason: str
    text: str
    by: str = ""


def find_reached_limit(run: RunState, limits: Limits, elapsed_s: float) -> LimitReached | None:
    """Return what forbids one more model call, if anything does.

    `limits` are those of the start. Money is not judged here: the purse reserves it,
    call by call.
    """
    if run.wanted is not None and run.wanted.state is AgentState.STOPPED:
        return LimitReached(
            kind=OutcomeKind.STOPPED,
            reason="asked",
            text=f"Stopped by {run.wanted.reason or 'request'}.",
            by=login_in_mention(run.wanted.reason),
        )
    allowed = run.allowed(limits)
    if run.iterations >= allowed.max_iterations:
        return LimitReached(
            kind=OutcomeKind.OVER_LIMIT,
            reason="iterations",
            text=f"The limit of {allowed.max_iterations} steps was reached.",
        )
    tokens = run.usage.tokens_in + run.usage.tokens_out
    if tokens >= allowed.max_tokens:
        return LimitReached(
            kind=OutcomeKind.OVER_LIMIT,
            reason="tokens",
            text=f"The limit of {allowed.max_tokens:,} tokens was reached.",
        )
    if elapsed_s >= allowed.max_minutes * 60:
        return LimitReached(
            kind=OutcomeKind.TIMED_OUT,
            reason="time",
            text=f"The limit of {allowed.max_minutes:g} minutes was reached.",
        )
    return None


def token_limit_reached(limits: Limits) -> LimitReached:
    """Return that one more call could pass the ceiling of tokens."""
    return LimitReached(
        kind=OutcomeKind.OVER_LIMIT,
        reason="tokens",
        text=f"The limit of {limits.max_tokens:,} tokens leaves no room for one more "
        "model call.",
    )
