"""The state of a run is what its events add up to."""

from datetime import UTC, datetime, timedelta
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.events.actions import ChangeState, Message, RaiseLimits
from patchwright.core.events.observations import (
    CheckpointTaken,
    ConfirmationAsked,
    ModelCalled,
    ModelReply,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Risk, Source
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import Event, Known
from patchwright.core.types.work import Limits, Usage

AT = datetime(2030, 1, 1, tzinfo=UTC)
S = AgentState


def state_after(*payloads: Known) -> RunState:
    """Fold events that come one second after the other."""
    return reduce(fold, events_of(*payloads), RunState())


def events_of(*payloads: Known) -> list[Event]:
    return [
        Event(
            id=number,
            at=AT + timedelta(seconds=number),
            source=Source.SYSTEM,
            payload=payload,
        )
        for number, payload in enumerate(payloads, start=1)
    ]


def reply(cost_usd: float | None, tokens_in: int = 10, agent: str = "") -> ModelReply:
    usage = Usage(cost_usd=cost_usd, tokens_in=tokens_in)
    return ModelReply(usage=usage, agent=agent)


def changed(state: AgentState, until: datetime | None = None) -> StateChanged:
    return StateChanged(state=state, until=until)


def test_replies_are_counted_and_billed() -> None:
    state = state_after(reply(0.25), Message(text="x"), reply(0.5))
    assert state.iterations == 2
    assert state.usage == Usage(cost_usd=0.75, tokens_in=20)


def test_s66_delegates_and_other_calls_are_billed_too() -> None:
    beside = ModelCalled(role="condense", usage=Usage(cost_usd=0.5, tokens_in=3))
    state = state_after(reply(0.25), reply(0.25, agent="7"), beside)
    assert state.iterations == 2
    assert state.usage == Usage(cost_usd=1.0, tokens_in=23)


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    assert state_after(reply(0.25), reply(None), reply(0.25)).usage.cost_usd is None


def test_before_the_first_reply_nothing_is_spent() -> None:
    assert state_after().usage.cost_usd == 0.0


def test_what_a_person_asked_for_is_remembered_with_their_name() -> None:
    wish = ChangeState(state=S.STOPPED, reason="@alice")
    state = state_after(changed(S.RUNNING), wish)
    assert state.state is S.RUNNING
    assert (state.wanted, state.wanted_id) == (wish, 2)


def test_what_was_asked_for_is_done_when_the_run_is_in_that_state() -> None:
    pause = ChangeState(state=S.PAUSED)
    assert state_after(pause, changed(S.RUNNING)).wanted == pause
    assert state_after(pause, changed(S.PAUSED)).wanted is None


def test_a_yes_outlasts_the_state_it_leads_to() -> None:
    """Or a crash between that state and the action would swallow it."""
    yes = ChangeState(state=S.USER_CONFIRMED, digest="d")
    state = state_after(yes, changed(S.USER_CONFIRMED), changed(S.RUNNING))
    assert (state.wanted, state.wanted_id) == (yes, 1)


def test_raised_limits_add_up() -> None:
    more = RaiseLimits(iterations=5, cost_usd=0.5, reason="@alice")
    allowed = state_after(more, more).allowed(Limits(max_iterations=3))
    assert (allowed.max_iterations, allowed.max_cost_usd) == (13, 4.0)


def test_s58_the_wait_for_the_provider_lasts_until_the_run_goes_on() -> None:
    until = AT + timedelta(minutes=1)
    limited = [changed(S.RUNNING), changed(S.RATE_LIMITED, until)]
    assert state_after(*limited).rate_limited_until == until
    assert state_after(*limited, changed(S.LOADING)).rate_limited_until == until
    assert state_after(*limited, changed(S.RUNNING)).rate_limited_until is None


def test_time_counts_while_the_run_works_and_not_while_it_waits() -> None:
    state = state_after(
        changed(S.RUNNING),
        reply(0.0),
        changed(S.RATE_LIMITED),
        changed(S.PAUSED),
        Message(text="so?"),
        changed(S.RUNNING),
        reply(0.0),
    )
    assert state.worked_s == 4
    assert state.elapsed_s(AT + timedelta(seconds=10)) == 7


def test_time_between_a_lost_worker_and_the_next_does_not_count() -> None:
    state = state_after(changed(S.RUNNING), reply(0.0), changed(S.LOADING))
    assert state.worked_s == 1
    assert state.elapsed_s(AT + timedelta(hours=1)) == 1


def test_the_last_error_question_and_checkpoint_are_known() -> None:
    asked = ConfirmationAsked(action={}, digest="d", risk=Risk.HIGH)
    failed = StateChanged(state=S.ERROR, reason="model")
    state = state_after(asked, CheckpointTaken(up_to=1), failed, changed(S.LOADING))
    assert (state.asked, state.checkpoint, state.last_error) == (asked, 1, "model")
    assert state.has_run is False


def test_a_paused_run_is_held_until_somebody_says_something() -> None:
    held = [changed(S.PAUSED), changed(S.LOADING), changed(S.RUNNING)]
    assert state_after(*held).held_as is S.PAUSED
    after = state_after(*held, ChangeState(state=S.RUNNING))
    assert after.held_as is None


PAYLOADS = st.lists(
    st.sampled_from(
        [
            reply(0.5),
            reply(None),
            reply(1.0, agent="3"),
            changed(S.RUNNING),
            changed(S.PAUSED),
            changed(S.RATE_LIMITED, AT),
            changed(S.LOADING),
            ChangeState(state=S.PAUSED),
            RaiseLimits(iterations=1),
            Message(text="x"),
        ]
    )
)


@given(payloads=PAYLOADS, cut=st.integers(0, 20))
def test_folding_may_stop_and_go_on_anywhere(payloads: list[Known], cut: int) -> None:
    events = events_of(*payloads)
    begun = reduce(fold, events[:cut], RunState())
    stored = RunState.model_validate_json(begun.model_dump_json())
    assert reduce(fold, events[cut:], stored) == state_after(*payloads)
