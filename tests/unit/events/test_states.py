"""Which states may follow each other."""

import pytest

from patchwright.core.agent.endings import AgentEnding
from patchwright.core.events.payload import AgentState
from patchwright.core.events.state import ENDED, TRANSITIONS, WAITING, may_change
from patchwright.core.types.outcome_kind import OutcomeKind

S = AgentState


def test_every_state_is_in_the_table() -> None:
    assert TRANSITIONS.keys() == set(S)


@pytest.mark.parametrize("state", S)
def test_another_worker_may_take_a_run_up_in_any_state(state: AgentState) -> None:
    assert may_change(state, S.LOADING)


@pytest.mark.parametrize("state", sorted(ENDED))
def test_what_has_ended_must_be_loaded_first(state: AgentState) -> None:
    assert TRANSITIONS[state] == {S.LOADING}


@pytest.mark.parametrize("state", sorted(set(S) - ENDED))
def test_whatever_has_not_ended_can_be_stopped_and_can_fail(state: AgentState) -> None:
    assert may_change(state, S.STOPPED)
    assert may_change(state, S.ERROR)


def test_an_action_that_waits_is_never_simply_run() -> None:
    assert not may_change(S.AWAITING_USER_CONFIRMATION, S.RUNNING)


@pytest.mark.parametrize("kind", OutcomeKind)
@pytest.mark.parametrize("waits_as", [None, *sorted(WAITING)])
def test_a_running_agent_may_end_as_anything(
    kind: OutcomeKind, waits_as: AgentState | None
) -> None:
    assert may_change(S.RUNNING, AgentEnding(kind, "", "", waits_as=waits_as).state)
