"""Waiting grows, obeys the provider, and ends."""

import pytest

from patchwright.core.events.observations import ProviderWait, WaitCause
from patchwright.core.llm.errors import Settle
from patchwright.core.llm.failures import Failure, Fault
from patchwright.core.llm.transport import RetryPolicy
from patchwright.core.llm.waiting import (
    FIRST_CALL,
    UNREACHABLE,
    Patience,
    plan_wait,
)
from patchwright.core.types.work import Usage
from tests.fakes.clock import FakeClock

LIMITED = Failure(fault=Fault.RATE_LIMIT, detail="slow", cause=WaitCause.RATE_LIMITED)
DOWN = Failure(fault=Fault.UNAVAILABLE, detail="down")
REFUSED = Failure(
    fault=Fault.UNAVAILABLE, detail="connection refused", cause=WaitCause.UNREACHABLE
)


def wait(
    failure: Failure = LIMITED,
    *,
    tries: int = 1,
    waited_s: float = 0.0,
    left_s: float = 600.0,
    jitter: float = 1.0,
    unreachable: Patience = UNREACHABLE,
) -> float | None:
    return plan_wait(
        failure,
        tries=tries,
        waited_s=waited_s,
        left_s=left_s,
        jitter=jitter,
        unreachable=unreachable,
    )


def waits_of(failure: Failure, patience: Patience, jitter: float) -> list[float]:
    """Return the waits between the tries of a call that all fail at once."""
    waits: list[float] = []
    while True:
        found = wait(
            failure,
            tries=len(waits) + 1,
            waited_s=sum(waits),
            jitter=jitter,
            unreachable=patience,
        )
        if found is None:
            return waits
        waits.append(found)


def test_nobody_at_a_terminal_waits_long_for_an_address_that_is_wrong() -> None:
    assert waits_of(REFUSED, FIRST_CALL, 1.0) == [1.0, 2.0, 4.0, 8.0]
    assert waits_of(REFUSED, FIRST_CALL, 0.0) == [0.5, 1.0, 2.0, 4.0]


def test_the_service_waits_minutes_for_a_provider_that_restarts() -> None:
    quickest, slowest = (waits_of(REFUSED, UNREACHABLE, one) for one in (0.0, 1.0))
    assert (sum(quickest), sum(slowest)) == (121.5, 243.0)
    assert len(quickest) == len(slowest) == UNREACHABLE.most_tries - 1


def test_waits_double_up_to_a_minute() -> None:
    waits = [wait(tries=tries) for tries in (1, 2, 3, 7, 8, 2000)]
    assert waits == [1.0, 2.0, 4.0, 60.0, 60.0, 60.0]


def test_jitter_spreads_a_wait_over_its_upper_half() -> None:
    assert [wait(tries=3, jitter=jitter) for jitter in (0.0, 0.5)] == [2.0, 3.0]


def test_the_providers_figure_is_never_undercut() -> None:
    asked = LIMITED.replace(wait_s=7.0)
    assert wait(asked, tries=9, jitter=0.0) == 7.0
    assert wait(asked, tries=9, jitter=0.5) == 7.5


def test_no_wait_ends_past_the_deadline() -> None:
    asked = LIMITED.replace(wait_s=7.0)
    assert wait(asked, left_s=7.0) is None
    assert wait(left_s=0.5) is None


def test_an_outage_is_waited_for_less_long_than_a_rate_limit() -> None:
    assert wait(LIMITED, tries=9, waited_s=300.0) == 60.0
    assert wait(DOWN, tries=9, waited_s=300.0) is None
    assert wait(DOWN, tries=1, waited_s=300.0) == 1.0


@pytest.mark.parametrize(
    "fault",
    [
        Fault.CREDENTIAL,
        Fault.NO_CREDIT,
        Fault.REQUEST,
        Fault.DECLINED,
        Fault.CONTEXT,
    ],
)
def test_what_waiting_cannot_cure_is_not_repeated(fault: Fault) -> None:
    assert wait(Failure(fault=fault, detail="")) is None


def test_a_wait_can_be_ended_by_whoever_listens() -> None:
    class Stop:
        def waits(self, wait: ProviderWait) -> None:
            raise InterruptedError(f"{wait.cause}: {wait.seconds} s")

        def reserve(self, most: Usage) -> Settle:
            raise AssertionError(f"waiting costs nothing, not {most}")

    patience = RetryPolicy(FakeClock(), jitter=lambda: 1.0)
    with pytest.raises(InterruptedError, match=r"^rate-limited: 1\.0 s$"):
        patience.ask(lambda _left_s: LIMITED, deadline_at=600.0, watch=Stop())
