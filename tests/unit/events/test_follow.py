"""A follower misses nothing, however closely its steps follow on each other."""

import threading
from collections.abc import Sequence

from patchwright.core.events.log import follow_log
from patchwright.core.events.observations import Null
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event
from tests.fakes.clock import START

PATIENCE_S = 10


def event(number: int) -> Event:
    return Event(id=number, at=START, source=Source.SYSTEM, payload=Null())


def test_what_comes_after_the_last_look_and_before_leaving_is_read() -> None:
    events: list[Event] = []
    seen: list[int] = []
    wakeup, idle, looked = threading.Event(), threading.Event(), threading.Event()

    def read(start_id: int) -> Sequence[Event]:
        page = events[start_id - 1 :]
        if start_id == 1 and not page:
            idle.set()
        if start_id == 2 and not page:
            looked.set()
            # Leaving rings the bell: what this call has seen is out of date by then.
            assert wakeup.wait(PATIENCE_S)
        return page

    with follow_log(read, lambda one: seen.append(one.id), wakeup):
        assert idle.wait(PATIENCE_S)
        events.append(event(1))
        wakeup.set()
        assert looked.wait(PATIENCE_S)
        events.append(event(2))
    assert seen == [1, 2]


def test_writers_that_do_not_ring_are_found_by_looking_again() -> None:
    events: list[Event] = []
    found = threading.Event()
    with follow_log(
        lambda start_id: events[start_id - 1 :],
        lambda _event: found.set(),
        threading.Event(),
        look_again_s=0.01,
    ):
        events.append(event(1))
        assert found.wait(PATIENCE_S)


def test_a_log_that_cannot_be_read_now_is_read_later() -> None:
    pages = iter([(), (), (event(1),), ()])
    found = threading.Event()
    with follow_log(
        lambda _start_id: next(pages, ()),
        lambda _event: found.set(),
        threading.Event(),
        look_again_s=0.01,
    ):
        assert found.wait(PATIENCE_S)
