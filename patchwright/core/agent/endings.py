"""When an agent must stop, how its work ends, and why it waits."""

from dataclasses import dataclass
from typing import assert_never

from patchwright.core.events.actions import Finish
from patchwright.core.events.payload import AgentState
from patchwright.core.events.state import RunState
from patchwright.core.types.base import Value
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import login_in_mention
from patchwright.core.types.work import ASKED, Limits, WaitReason


class LimitReached(Value):
    """Why a run ends here; `text` is a sentence for people, which may call `by`."""

    kind: OutcomeKind
    reason: str
    text: str
    by: str = ""


def find_reached_limit(
    run: RunState, limits: Limits, elapsed_s: float
) -> LimitReached | None:
    """Return what forbids one more model call, if anything does.

    `limits` are those of the start. Money is not checked here: the budget reserves it
    for each call.
    """
    if run.wanted is not None and run.wanted.state is AgentState.STOPPED:
        return LimitReached(
            kind=OutcomeKind.STOPPED,
            reason=ASKED,
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


@dataclass(frozen=True)
class AgentEnding:
    """Why the loop ended; `finish` is there when the agent said it was done.

    `by_service` says that the text is ours, which may call the person of the login
    `by`; else it is the agent's. With `waits_as` it
    has only paused for a person, in that state, and goes on from the log when there is
    an answer.
    """

    kind: OutcomeKind
    reason: str
    text: str
    finish: Finish | None = None
    waits_as: AgentState | None = None
    by_service: bool = False
    by: str = ""

    @property
    def service_text(self) -> str:
        return self.text if self.by_service else ""

    @property
    def state(self) -> AgentState:
        """Return the state that the run is in from here on."""
        if self.waits_as is not None:
            return self.waits_as
        return _state_at_end(self.kind)


def _state_at_end(kind: OutcomeKind) -> AgentState:
    match kind:
        case OutcomeKind.RESOLVED:
            return AgentState.FINISHED
        case OutcomeKind.REFUSED:
            return AgentState.REJECTED
        case OutcomeKind.STOPPED:
            return AgentState.STOPPED
        case (
            OutcomeKind.ANSWERED
            | OutcomeKind.NO_CHANGE
            | OutcomeKind.NEEDS_INPUT
            | OutcomeKind.PLAN_POSTED
            | OutcomeKind.OVER_BUDGET
            | OutcomeKind.OVER_LIMIT
            | OutcomeKind.TIMED_OUT
            | OutcomeKind.STUCK
            | OutcomeKind.FAILED
        ):
            return AgentState.ERROR
        case _:
            assert_never(kind)


def limit_ending(stop: LimitReached) -> AgentEnding:
    return AgentEnding(stop.kind, stop.reason, stop.text, by_service=True, by=stop.by)


def paused_ending(who: str) -> AgentEnding:
    return AgentEnding(
        OutcomeKind.NEEDS_INPUT,
        WaitReason.PAUSED,
        f"Paused by {who}." if who else "Still paused.",
        waits_as=AgentState.PAUSED,
        by_service=True,
        by=login_in_mention(who),
    )


def question_ending(text: str) -> AgentEnding:
    return AgentEnding(
        OutcomeKind.NEEDS_INPUT,
        WaitReason.QUESTION,
        text,
        waits_as=AgentState.AWAITING_USER_INPUT,
    )


def plan_posted_ending(text: str) -> AgentEnding:
    return AgentEnding(
        OutcomeKind.PLAN_POSTED,
        WaitReason.PLAN,
        text,
        waits_as=AgentState.AWAITING_USER_CONFIRMATION,
    )


def plan_dropped_ending(who: str) -> AgentEnding:
    text = f"{who} rejected the plan."
    return AgentEnding(
        OutcomeKind.STOPPED,
        "plan-rejected",
        text,
        by_service=True,
        by=login_in_mention(who),
    )


def confirmation_ending(text: str) -> AgentEnding:
    return AgentEnding(
        OutcomeKind.NEEDS_INPUT,
        WaitReason.CONFIRMATION,
        text,
        waits_as=AgentState.AWAITING_USER_CONFIRMATION,
        by_service=True,
    )
