"""How often one person may send the form."""

from patchwright.core.types.people import Actor
from patchwright.workers.web.request_form import MAX_PER_HOUR, FormRateLimit
from tests.fakes.clock import FakeClock

EVE = Actor(service="github", login="eve", external_id="1")
BOB = Actor(service="github", login="bob", external_id="2")


def test_so_many_an_hour_for_each_person_and_refusals_do_not_count() -> None:
    clock = FakeClock()
    rate_limit = FormRateLimit(clock)
    assert all(rate_limit.take(EVE) for _ in range(MAX_PER_HOUR))
    clock.advance(59 * 60)
    assert not rate_limit.take(EVE)
    assert rate_limit.take(BOB)
    clock.advance(60)
    assert all(rate_limit.take(EVE) for _ in range(MAX_PER_HOUR))
    assert not rate_limit.take(EVE)
