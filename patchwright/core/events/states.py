"""Which states a run may pass through, and from which to which."""

from typing import Final

from patchwright.core.events.types import AgentState

S = AgentState

# A run that ended may be taken up again only where a person's word ends the waiting.
TRANSITIONS: Final[dict[AgentState, frozenset[AgentState]]] = {
    S.LOADING: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.RUNNING: frozenset(
        {
            S.LOADING,
            S.PAUSED,
            S.AWAITING_USER_INPUT,
            S.AWAITING_USER_CONFIRMATION,
            # A waiting run is loaded anew when the answer is there.
            S.USER_CONFIRMED,
            S.USER_REJECTED,
            S.RATE_LIMITED,
            S.FINISHED,
            S.REJECTED,
            S.STOPPED,
            S.ERROR,
        }
    ),
    # It is limited again, until later.
    S.RATE_LIMITED: frozenset(
        {S.LOADING, S.RUNNING, S.RATE_LIMITED, S.PAUSED, S.STOPPED, S.ERROR}
    ),
    S.PAUSED: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.AWAITING_USER_INPUT: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.AWAITING_USER_CONFIRMATION: frozenset(
        {S.LOADING, S.USER_CONFIRMED, S.USER_REJECTED, S.PAUSED, S.STOPPED, S.ERROR}
    ),
    S.USER_CONFIRMED: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.USER_REJECTED: frozenset({S.LOADING, S.RUNNING, S.STOPPED, S.ERROR}),
    S.FINISHED: frozenset({S.LOADING}),
    S.REJECTED: frozenset({S.LOADING}),
    S.STOPPED: frozenset({S.LOADING}),
    S.ERROR: frozenset({S.LOADING}),
}

ENDED: Final = frozenset({S.FINISHED, S.REJECTED, S.STOPPED, S.ERROR})
WAITING: Final = frozenset(
    {S.PAUSED, S.AWAITING_USER_INPUT, S.AWAITING_USER_CONFIRMATION}
)


def may_change(before: AgentState, after: AgentState) -> bool:
    return after in TRANSITIONS[before]
