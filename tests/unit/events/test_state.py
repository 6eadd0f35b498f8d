"""The state of a run is what its events add up to."""

from datetime import UTC, datetime
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import (
    AgentState,
    ChangeState,
    Event,
    Known,
    Message,
    ModelReply,
    Source,
    StateChanged,
)
from patchwright.core.types.work import Usage

AT = datetime(2030, 1, 1, tzinfo=UTC)


def state_after(*payloads: Known) -> RunState:
    events = [
        Event(id=number, at=AT, source=Source.SYSTEM, payload=payload)
        for number, payload in enumerate(payloads, start=1)
    ]
    return reduce(fold, events, RunState())


def reply(cost_usd: float | None, tokens_in: int = 10) -> ModelReply:
    return ModelReply(usage=Usage(cost_usd=cost_usd, tokens_in=tokens_in))


def test_replies_are_counted_and_billed() -> None:
    state = state_after(reply(0.25), Message(text="x"), reply(0.5))
    assert state.iterations == 2
    assert state.usage == Usage(cost_usd=0.75, tokens_in=20)


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    assert state_after(reply(0.25), reply(None), reply(0.25)).usage.cost_usd is None


def test_before_the_first_reply_nothing_is_spent() -> None:
    assert state_after().usage.cost_usd == 0.0


def test_what_a_person_asked_for_is_remembered_with_their_name() -> None:
    wish = ChangeState(state=AgentState.STOPPED, reason="@alice")
    state = state_after(StateChanged(state=AgentState.RUNNING), wish)
    assert state.state is AgentState.RUNNING
    assert (state.wanted, state.wanted_by) == (AgentState.STOPPED, "@alice")


@given(costs=st.lists(st.integers(0, 100)), cut=st.integers(0, 20))
def test_folding_may_stop_and_go_on_anywhere(costs: list[int], cut: int) -> None:
    replies = [reply(float(cost)) for cost in costs]
    first, rest = replies[:cut], replies[cut:]
    begun = state_after(*first)
    events = [Event(id=1, at=AT, source=Source.AGENT, payload=one) for one in rest]
    assert reduce(fold, events, begun) == state_after(*replies)
