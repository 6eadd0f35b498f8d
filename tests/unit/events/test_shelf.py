"""Parts of a log in memory are what a search through all of it would find."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.events.actions import Think
from patchwright.core.events.log import InMemoryEvents
from patchwright.core.events.observations import Null
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event
from tests.fakes.clock import START

KINDS = st.none() | st.frozensets(st.sampled_from(["null", "think", "dream"]))
IDS = st.integers(-2, 12)


@given(
    thoughts=st.lists(st.booleans(), max_size=9),
    start_id=IDS,
    end_id=st.none() | IDS,
    limit=st.none() | st.integers(0, 4),
    reverse=st.booleans(),
    kinds=KINDS,
)
def test_a_part_is_what_a_search_would_find(
    *,
    thoughts: Sequence[bool],
    start_id: int,
    end_id: int | None,
    limit: int | None,
    reverse: bool,
    kinds: frozenset[str] | None,
) -> None:
    shelf = InMemoryEvents()
    events = [
        event(number, is_thought=thought) for number, thought in enumerate(thoughts, 1)
    ]
    for one in events:
        shelf.add(one)
    found = [
        one
        for one in (reversed(events) if reverse else events)
        if start_id <= one.id <= (len(events) if end_id is None else end_id)
        and (kinds is None or one.payload.kind in kinds)
    ]
    part = shelf.read(start_id, end_id, limit=limit, reverse=reverse, kinds=kinds)
    assert list(part) == found[:limit]


def event(number: int, *, is_thought: bool) -> Event:
    payload = Think(thought="t") if is_thought else Null()
    return Event(id=number, at=START, source=Source.AGENT, payload=payload)
