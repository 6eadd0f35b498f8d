"""Invariant 1: ids dense and increasing; any prefix folds to the live state."""

import json
import signal
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from pathlib import Path
from threading import Event as Bell
from time import monotonic

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from patchwright.core.events.actions import Message
from patchwright.core.events.jsonl import export_log, import_log, read_events
from patchwright.core.events.payload import Source
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import Event, Known
from patchwright.workers.db.database import Database
from patchwright.workers.store.events import (
    EventStore,
    NewEvent,
    SqlEventLog,
    append_row,
)
from tests.invariants.log_world import LogWorld, examples
from tests.provision.starter import ready_starter
from tests.unit.events.made_up import JSON, payloads

WRITERS = 3
BURST = st.lists(st.tuples(st.integers(0, WRITERS - 1), payloads()), max_size=8)
SOURCES = st.sampled_from(Source)
PATIENCE_S = 20


class DeathError(Exception):
    """A writer is no more, in the middle of what it did."""


class Writers(RuleBasedStateMachine):
    """Several processes write one log, die at it, and are of several versions."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self.world = LogWorld(database)
        self.stores = [self.world.open_store() for _ in range(WRITERS)]
        self.logs = [store.open(self.world.conversation) for store in self.stores]
        self.events: list[Event] = []
        # One state after each event, and the one before the first.
        self.states = [RunState()]

    def note(self, event: Event) -> None:
        self.events.append(event)
        self.states.append(fold(self.states[-1], event))

    @rule(writer=st.integers(0, WRITERS - 1), payload=payloads(), source=SOURCES)
    def one_writes(self, writer: int, payload: Known, source: Source) -> None:
        self.world.clock.advance(1)
        self.note(self.logs[writer].append(source, payload))

    @rule(burst=BURST)
    def all_write_at_once(self, burst: list[tuple[int, Known]]) -> None:
        with ThreadPoolExecutor(len(burst) + 1) as threads:
            appended = threads.map(
                lambda one: self.logs[one[0]].append(Source.AGENT, one[1]), burst
            )
        for event in sorted(appended, key=lambda one: one.id):
            self.note(event)

    @rule(payload=payloads())
    def one_dies_before_its_commit(self, payload: Known) -> None:
        with pytest.raises(DeathError):
            self.write_and_die(self.stores[0], payload)

    @rule(fields=st.dictionaries(st.text("xyz", min_size=1), JSON, max_size=2))
    def a_newer_version_writes(self, fields: dict[str, object]) -> None:
        self.insert("dream", fields)

    @rule(fields=st.dictionaries(st.text("xyz", min_size=1), JSON, max_size=2))
    def a_field_of_another_version_is_written(self, fields: dict[str, object]) -> None:
        self.insert("message", {"text": "hello"} | fields)

    def insert(self, kind: str, fields: dict[str, object]) -> None:
        payload = json.dumps({"kind": kind} | fields)
        new = NewEvent(self.world.clock.now(), Source.SYSTEM, None, kind, payload)
        with self.world.database.writing() as connection:
            event_id = append_row(connection, self.world.conversation, new)
        [event] = self.logs[0].read(event_id)
        self.note(event)

    def write_and_die(self, store: EventStore, payload: Known) -> None:
        with store.database.writing() as connection:
            new = store.new_event(Source.AGENT, payload)
            append_row(connection, self.world.conversation, new)
            raise DeathError

    @invariant()
    def ids_have_no_gap(self) -> None:
        stored = list(self.logs[-1].read())
        assert [event.id for event in stored] == list(range(1, len(self.events) + 1))
        assert stored == self.events

    @rule(data=st.data())
    def a_prefix_folds_to_the_state_of_that_time(self, data: st.DataObject) -> None:
        length = data.draw(st.integers(0, len(self.events)))
        prefix = self.logs[-1].read(end_id=length)
        assert reduce(fold, prefix, RunState()) == self.states[length]

    def teardown(self) -> None:
        try:
            self.it_loads_elsewhere()
        finally:
            self.world.close()

    def it_loads_elsewhere(self) -> None:
        other = LogWorld(self.world.database)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "log.jsonl")
            with path.open("w", encoding="utf-8") as file:
                export_log(self.logs[0], file)
            log = other.open_log()
            assert import_log(path, log) == len(self.events)
            assert list(read_events(path)) == self.events
        assert list(log.read()) == self.events
        other.close()


def test_ids_are_dense_and_prefixes_fold(database: Database) -> None:
    run_state_machine_as_test(
        partial(Writers, database),  # type: ignore[arg-type] # called, no more
        settings=settings(
            max_examples=examples(database, most=50),
            stateful_step_count=15,
            deadline=None,
        ),
    )


def test_writers_that_are_killed_leave_no_gap(database: Database) -> None:
    world = LogWorld(database)
    log = world.open_log()
    url = database.engine.url.render_as_string(hide_password=False)
    program = "tests.adapters.store.append_many"
    with log.listen() as wakeup:
        for count in (1, 3, 20, 60, 150):
            writer = ready_starter().start_module(
                program, url, world.conversation, "100000"
            )
            wait_for_more(log, wakeup, count)
            log.append(Source.USER, Message(text="in between"))
            writer.send_signal(signal.SIGKILL)
            assert writer.wait(PATIENCE_S) == -signal.SIGKILL
    ids = [event.id for event in log.read()]
    world.close()
    assert ids == list(range(1, len(ids) + 1))
    assert len(ids) > 234


def wait_for_more(log: SqlEventLog, wakeup: Bell, count: int) -> None:
    """Wait until there are so many events more than now."""
    start_id = len(log.read()) + 1
    until = monotonic() + PATIENCE_S
    while len(log.read(start_id, limit=count)) < count:
        assert wakeup.wait(until - monotonic())
        wakeup.clear()
