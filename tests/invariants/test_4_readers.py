"""Invariant 4: whoever comes and goes sees every event once, in order."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from patchwright.core.events.actions import Message
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.log import EventLog
from patchwright.core.events.payload import Source
from patchwright.workers.db.database import Database
from tests.fakes.clock import FakeClock
from tests.invariants.log_world import LogWorld, examples, unchanged
from tests.invariants.readers import Reader

READERS = 4
SOME = st.integers(0, READERS - 1)


class LiveViews(RuleBasedStateMachine):
    """Readers in some processes follow what is written in these and others."""

    def __init__(self, writers: Sequence[EventLog], places: Sequence[EventLog]) -> None:
        super().__init__()
        self.writers = writers
        self.readers = [Reader(places[n % len(places)]) for n in range(READERS)]
        self.dawdling: set[int] = set()
        self.written = 0

    @rule(writer=st.integers(0, 9), count=st.integers(1, 8))
    def somebody_writes(self, writer: int, count: int) -> None:
        log = self.writers[writer % len(self.writers)]
        for _ in range(count):
            log.append(Source.AGENT, Message(text="hello"))
        self.written += count

    @rule(number=SOME)
    def one_connects(self, number: int) -> None:
        if not self.readers[number].is_connected:
            self.readers[number].connect()

    @rule(number=SOME)
    def one_hangs_up(self, number: int) -> None:
        self.readers[number].disconnect()
        self.dawdling.discard(number)

    @rule(number=SOME)
    def one_dawdles(self, number: int) -> None:
        if self.readers[number].is_connected:
            self.readers[number].dawdle()
            self.dawdling.add(number)

    @precondition(lambda self: self.dawdling)
    @rule()
    def all_hurry(self) -> None:
        for number in self.dawdling:
            self.readers[number].hurry()
        self.dawdling.clear()

    @rule()
    def those_who_are_there_see_everything(self) -> None:
        for number, reader in enumerate(self.readers):
            if reader.is_connected and number not in self.dawdling:
                assert reader.sees(self.written)

    @rule(after_id=st.integers(0, 20))
    def one_subscribes_for_a_while(self, after_id: int) -> None:
        followed: list[int] = []
        with self.writers[0].subscribe(
            lambda event: followed.append(event.id), after_id
        ):
            self.somebody_writes(1, 2)
        assert followed == list(range(after_id + 1, self.written + 1))

    def teardown(self) -> None:
        try:
            self.all_hurry()
            for reader in self.readers:
                if not reader.is_connected:
                    reader.connect()
                assert reader.sees(self.written)
        finally:
            for reader in self.readers:
                reader.disconnect()
        for reader in self.readers:
            ids = [event.id for event in reader.seen]
            assert ids == list(range(1, self.written + 1))


class LiveViewsOfDatabase(LiveViews):
    """Two processes write; readers are in one of these, and in a third."""

    def __init__(self, database: Database) -> None:
        self.world = LogWorld(database)
        one, other, third = (self.world.open_log() for _ in range(3))
        super().__init__(writers=[one, other], places=[one, third])

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            self.world.close()


class LiveViewsOfFile(LiveViews):
    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name, "log.jsonl")
        self.log = JsonlEventLog(path, unchanged, FakeClock())
        super().__init__(writers=[self.log], places=[self.log])

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            self.log.__exit__()
            self.folder.cleanup()


def test_each_reader_sees_every_event_once_and_in_order(database: Database) -> None:
    run_state_machine_as_test(
        partial(LiveViewsOfDatabase, database),  # type: ignore[arg-type] # called, no more
        settings=settings(
            max_examples=examples(database, most=40),
            stateful_step_count=20,
            deadline=None,
        ),
    )


TestLiveViewsOfFile = LiveViewsOfFile.TestCase
TestLiveViewsOfFile.settings = settings(
    max_examples=100, stateful_step_count=20, deadline=None
)
