"""One more model call is made only within every limit."""

import pytest

from patchwright.core.agent.endings import find_reached_limit
from patchwright.core.events.actions import ChangeState
from patchwright.core.events.payload import AgentState
from patchwright.core.events.state import RunState
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Usage

LIMITS = Limits(max_iterations=10, max_tokens=1_500, max_minutes=1.5)


def wanting(state: AgentState, who: str = "") -> ChangeState:
    return ChangeState(state=state, reason=who)


def used(tokens_in: int, tokens_out: int) -> RunState:
    return RunState(usage=Usage(tokens_in=tokens_in, tokens_out=tokens_out))


@pytest.mark.parametrize(
    ("run", "elapsed_s"),
    [
        (RunState(), 0.0),
        (RunState(iterations=9), 89.9),
        (RunState(iterations=12, more_iterations=3), 0.0),
        (used(1_000, 499), 0.0),
        (RunState(wanted=wanting(AgentState.PAUSED)), 0.0),
    ],
)
def test_within_the_limits_a_run_goes_on(run: RunState, elapsed_s: float) -> None:
    assert find_reached_limit(run, LIMITS, elapsed_s) is None


@pytest.mark.parametrize(
    ("run", "elapsed_s", "kind", "text"),
    [
        (
            RunState(iterations=10),
            0.0,
            OutcomeKind.OVER_LIMIT,
            "The limit of 10 steps was reached.",
        ),
        (
            RunState(iterations=13, more_iterations=3),
            0.0,
            OutcomeKind.OVER_LIMIT,
            "The limit of 13 steps was reached.",
        ),
        (
            used(1_000, 500),
            0.0,
            OutcomeKind.OVER_LIMIT,
            "The limit of 1,500 tokens was reached.",
        ),
        (
            RunState(),
            90.0,
            OutcomeKind.TIMED_OUT,
            "The limit of 1.5 minutes was reached.",
        ),
        (
            RunState(wanted=wanting(AgentState.STOPPED, "@alice")),
            0.0,
            OutcomeKind.STOPPED,
            "Stopped by @alice.",
        ),
        (
            RunState(wanted=wanting(AgentState.STOPPED), iterations=99),
            9_999.0,
            OutcomeKind.STOPPED,
            "Stopped by request.",
        ),
    ],
)
def test_at_a_limit_a_run_ends_with_a_sentence(
    run: RunState, elapsed_s: float, kind: OutcomeKind, text: str
) -> None:
    stop = find_reached_limit(run, LIMITS, elapsed_s)
    assert stop is not None
    assert (stop.kind, stop.text) == (kind, text)
