"""Keep a log's events in memory, and find parts of it without copying the rest."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import islice

from patchwright.core.events.types import Event


class InMemoryEvents:
    """Events in the order of their ids; one thread at a time may add.

    Others may read meanwhile: they see what had been added when they began.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._ids_of: defaultdict[str, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: Event) -> None:
        self._events.append(event)
        self._ids_of[event.payload.kind].append(event.id)

    def read(
        self,
        start_id: int,
        end_id: int | None,
        *,
        limit: int | None,
        reverse: bool,
        kinds: frozenset[str] | None,
    ) -> Sequence[Event]:
        first, last = max(start_id, 1), len(self._events)
        if end_id is not None:
            last = min(end_id, last)
        every = range(first, last + 1)
        ids = (
            _in_order(every, reverse=reverse)
            if kinds is None
            else merge(
                *(self._of_kind(kind, every, reverse=reverse) for kind in kinds),
                reverse=reverse,
            )
        )
        return [self._events[event_id - 1] for event_id in islice(ids, limit)]

    def _of_kind(self, kind: str, ids: range, *, reverse: bool) -> Iterable[int]:
        run = self._ids_of.get(kind, [])
        places = range(bisect_left(run, ids.start), bisect_right(run, ids.stop - 1))
        return (run[place] for place in _in_order(places, reverse=reverse))


def _in_order(numbers: range, *, reverse: bool) -> range:
    return numbers[::-1] if reverse else numbers
