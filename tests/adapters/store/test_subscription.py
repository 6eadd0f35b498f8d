"""Following a log: everything once, in order, and nobody waits for anybody."""

import threading
from collections.abc import Callable
from queue import SimpleQueue

from patchwright.core.events.actions import Message
from patchwright.core.events.log import Notifier
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event
from patchwright.core.types.base import ConversationId
from patchwright.workers.store.events import LOOK_AGAIN_S, EventStore, SqlEventLog
from tests.adapters.store.world import World

SOON_S = 10.0


def test_history_comes_first_and_then_what_is_new(world: World) -> None:
    log = _log(world)
    seen: SimpleQueue[int] = SimpleQueue()
    _say(log, 3)
    with log.subscribe(_into(seen), after_id=1):
        at_once_s = LOOK_AGAIN_S / 2
        assert [seen.get(timeout=at_once_s) for _ in range(2)] == [2, 3]
        _say(log, 1)
        assert seen.get(timeout=SOON_S) == 4
    assert seen.empty()


def test_leaving_waits_until_everything_has_been_read(world: World) -> None:
    log = _log(world)
    seen: list[int] = []
    with log.subscribe(lambda event: seen.append(event.id)):
        _say(log, 700)
    assert seen == list(range(1, 701))


def test_a_slow_reader_holds_up_neither_writer_nor_other_readers(world: World) -> None:
    log = _log(world)
    may_go_on = threading.Event()
    slow: list[int] = []
    fast: SimpleQueue[int] = SimpleQueue()

    def read_slowly(event: Event) -> None:
        may_go_on.wait(SOON_S)
        slow.append(event.id)

    with log.subscribe(read_slowly), log.subscribe(_into(fast)):
        _say(log, 5)
        assert [fast.get(timeout=SOON_S) for _ in range(5)] == [1, 2, 3, 4, 5]
        assert slow == []
        may_go_on.set()
    assert slow == [1, 2, 3, 4, 5]


def test_a_reader_that_fails_gets_the_next_event_all_the_same(world: World) -> None:
    log = _log(world)
    seen: list[int] = []

    def read_badly(event: Event) -> None:
        seen.append(event.id)
        raise RuntimeError(event.id)

    with log.subscribe(read_badly):
        _say(log, 3)
    assert seen == [1, 2, 3]


def test_events_of_another_process_are_found_by_looking(world: World) -> None:
    job_id = world.ask()
    elsewhere = EventStore(world.database, lambda tree: tree, world.clock, Notifier())
    seen: SimpleQueue[int] = SimpleQueue()
    conversation_id = world.conversation(job_id)
    with world.events.open(conversation_id).subscribe(_into(seen)):
        _say(elsewhere.open(conversation_id), 1)
        assert seen.get(timeout=SOON_S) == 1


def test_appending_rings_for_those_who_follow_that_conversation(world: World) -> None:
    job_id = world.ask()
    conversation_id = world.conversation(job_id)
    with (
        world.notifier.listen(conversation_id) as ours,
        world.notifier.listen(ConversationId("another")) as theirs,
    ):
        _say(world.events.open(conversation_id), 1)
        assert ours.is_set()
        assert not theirs.is_set()


def _log(world: World) -> SqlEventLog:
    return world.events.open(world.conversation(world.ask()))


def _say(log: SqlEventLog, times: int) -> None:
    for _ in range(times):
        log.append(Source.USER, Message(text="hello"))


def _into(seen: "SimpleQueue[int]") -> Callable[[Event], None]:
    return lambda event: seen.put(event.id)
