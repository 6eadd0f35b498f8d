"""The events of a run in the order in which the run took notice of them."""

from collections.abc import Sequence

from patchwright.core.events.types import Event, Message, ModelReply, Source, Steering


def is_steering(event: Event) -> bool:
    """Tell whether a person said or asked for this, in whoever's name it stands."""
    payload = event.payload
    if isinstance(payload, Message):
        return event.source is Source.USER
    return isinstance(payload, Steering) and event.cause is None


def accepted_steering(events: Sequence[Event]) -> dict[int, Event]:
    """Return how each thing that was said was heard, by the id of its event."""
    return {
        event.cause: event
        for event in events
        if event.source is Source.SYSTEM
        and event.cause is not None
        and isinstance(event.payload, Steering)
    }


def in_order_noticed(events: Sequence[Event]) -> list[Event]:
    """Put what was said while a model answered after its answer, unless it was heard.

    Which of the two came first is chance then, and changed nothing.
    """
    places = {event.id: (event.id, 0) for event in events}
    heard = accepted_steering(events)
    said: list[Event] = []
    for event in events:
        if is_steering(event):
            said.append(event)
        elif isinstance(event.payload, ModelReply):
            seen_id = event.cause or 0
            for one in said:
                is_heard = one.id in heard and heard[one.id].id < event.id
                if one.id > seen_id and not is_heard:
                    places[one.id] = (event.id, one.id)
            said.clear()
    return sorted(events, key=lambda event: places[event.id])
