"""How an agent's work ends, or why it waits."""

from dataclasses import dataclass

from patchwright.core.agent.limits import LimitReached
from patchwright.core.events.types import AgentState, Finish
from patchwright.core.types.people import login_in_mention
from patchwright.core.types.work import OutcomeKind


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
        return _STATE_AT_END.get(self.kind, AgentState.ERROR)


_STATE_AT_END = {
    OutcomeKind.RESOLVED: AgentState.FINISHED,
    OutcomeKind.REFUSED: AgentState.REJECTED,
    OutcomeKind.STOPPED: AgentState.STOPPED,
}


def limit_ending(stop: LimitReached) -> AgentEnding:
    return AgentEnding(stop.kind, stop.reason, stop.text, by_service=True, by=stop.by)


def paused_ending(who: str) -> AgentEnding:
    return AgentEnding(
        OutcomeKind.NEEDS_INPUT,
        "paused",
        f"Paused by {who}." if who else "Still paused.",
        waits_as=AgentState.PAUSED,
        by_service=True,
        by=login_in_mention(who),
    )


def question_ending(text: str) -> AgentEnding:
    return AgentEnding(
        OutcomeKind.NEEDS_INPUT,
        "question",
        text,
        waits_as=AgentState.AWAITING_USER_INPUT,
    )


def plan_posted_ending(text: str) -> AgentEnding:
    return AgentEnding(
        OutcomeKind.PLAN_POSTED,
        "plan",
        text,
        waits_as=AgentState.AWAITING_USER_CONFIRMATION,
    )


def plan_dropped_ending(who: str) -> AgentEnding:
    text = f"{who} did not want the plan carried out."
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
        "confirmation",
        text,
        waits_as=AgentState.AWAITING_USER_CONFIRMATION,
        by_service=True,
    )
