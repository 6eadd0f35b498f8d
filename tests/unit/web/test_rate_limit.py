"""How often one person may send the form for requests."""

from datetime import timedelta

from patchwright.workers.web.rate_limit import AttemptLimit
from tests.fakes.clock import FakeClock

MOST = 30


def test_so_many_an_hour_for_each_person_and_refusals_do_not_count() -> None:
    clock = FakeClock()
    limit = AttemptLimit(clock, MOST, timedelta(hours=1))
    assert all(limit.take("eve") for _ in range(MOST))
    clock.advance(59 * 60)
    assert not limit.has_room("eve")
    assert not limit.take("eve")
    assert limit.take("bob")
    clock.advance(60)
    assert all(limit.take("eve") for _ in range(MOST))
    assert not limit.take("eve")
