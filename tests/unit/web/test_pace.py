"""How often one person may send the form."""

from patchwright.core.types.people import Actor
from patchwright.workers.web.asking.pace import MOST, Pace
from tests.fakes.clock import FakeClock

EVE = Actor(service="github", login="eve", external_id="1")
BOB = Actor(service="github", login="bob", external_id="2")


def test_so_many_an_hour_for_each_person_and_refusals_do_not_count() -> None:
    clock = FakeClock()
    pace = Pace(clock)
    assert all(pace.take(EVE) for _ in range(MOST))
    clock.advance(59 * 60)
    assert not pace.take(EVE)
    assert pace.take(BOB)
    clock.advance(60)
    assert all(pace.take(EVE) for _ in range(MOST))
    assert not pace.take(EVE)
