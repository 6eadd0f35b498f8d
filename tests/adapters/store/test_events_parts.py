"""Parts of a log in the database: the right ones, and without a search through all."""

import json
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import insert, text

from patchwright.core.events.actions import Message, Think
from patchwright.core.events.jsonl import (
    LogNotEmptyError,
    export_log,
    import_log,
    read_entries,
)
from patchwright.core.events.observations import Null
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event
from patchwright.core.types.base import ConversationId
from patchwright.workers.db.tables import events
from patchwright.workers.store.events import EventRange, SqlEventLog, make_page_query
from tests.adapters.store.world import World

AT = "2030-01-01T12:00:00Z"
PAYLOADS = (Message(text="m"), Think(thought="t"), Null())
KINDS = (None, frozenset[str](), frozenset({"think"}), frozenset({"null", "message"}))


@pytest.fixture
def log(world: World) -> SqlEventLog:
    return world.events.open(world.conversation(world.ask()))


def test_every_part_is_what_a_search_would_find(log: SqlEventLog) -> None:
    everything = [log.append(Source.USER, PAYLOADS[n % 3]) for n in range(10)]
    parts = product((0, 1, 4), (None, 3, 8, 99), (None, 0, 2), (False, True), KINDS)
    for start_id, end_id, limit, reverse, kinds in parts:
        part = EventRange(start_id, end_id, limit, reverse, kinds)
        found = log.read(start_id, end_id, limit=limit, reverse=reverse, kinds=kinds)
        assert list(found) == search(everything, part), part


def search(everything: list[Event], part: EventRange) -> list[Event]:
    found = [
        event
        for event in everything
        if part.start_id <= event.id <= (part.end_id or event.id)
        and (part.kinds is None or event.payload.kind in part.kinds)
    ]
    return (found[::-1] if part.reverse else found)[: part.limit]


@pytest.mark.parametrize("kinds", [None, frozenset({"think"}), frozenset({"a", "b"})])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_page_of_a_long_log_is_found_by_index(
    world: World, kinds: frozenset[str] | None, *, reverse: bool
) -> None:
    conversation = world.conversation(world.ask())
    fill(world, conversation, 5_000)
    plan = explain(world, conversation, EventRange(4_000, None, 20, reverse, kinds))
    assert "SCAN EVENTS" not in plan
    assert "SEQ SCAN" not in plan
    assert "USING INDEX" in plan or "INDEX SCAN" in plan


def fill(world: World, conversation: ConversationId, count: int) -> None:
    """Store events that are thoughts but for one in a thousand."""
    rows = [
        {
            "conversation_id": conversation,
            "id": number,
            "at": world.clock.now(),
            "source": "agent",
            "kind": "a" if number % 1_000 == 0 else "think",
            "payload": json.dumps({"kind": "think", "thought": "t"}),
        }
        for number in range(1, count + 1)
    ]
    with world.database.writing() as connection:
        connection.execute(insert(events), rows)
        connection.execute(text("ANALYZE"))


def explain(world: World, conversation: ConversationId, part: EventRange) -> str:
    query, values = make_page_query(conversation, part)
    literal = query.params(values).compile(
        world.database.engine, compile_kwargs={"literal_binds": True}
    )
    explaining = "EXPLAIN QUERY PLAN" if world.database.is_sqlite else "EXPLAIN"
    with world.database.reading() as connection:
        rows = connection.exec_driver_sql(f"{explaining} {literal}").all()
    return "\n".join(str(row[-1]) for row in rows).upper()


def test_a_log_moves_by_file_and_keeps_what_it_does_not_know(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    lines = [
        {"kind": "message", "text": "hello", "mood": "good"},
        {"kind": "dream", "of": {"sheep": [1, None, 2.5]}},
    ]
    path.write_text(
        "".join(
            json.dumps({"id": n, "at": AT, "source": "user", "payload": payload}) + "\n"
            for n, payload in enumerate(lines, start=1)
        )
    )
    log = world.events.open(world.conversation(world.ask()))
    assert import_log(path, log) == 2
    again = tmp_path / "again.jsonl"
    with again.open("w") as file:
        assert export_log(log, file) == 2
    assert list(read_entries(again)) == list(read_entries(path))
    assert [entry.payload for entry in read_entries(again)] == lines


def test_nothing_is_restored_over_what_is_there(
    log: SqlEventLog, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    with path.open("w") as file:
        log.append(Source.USER, Null())
        export_log(log, file)
    with pytest.raises(LogNotEmptyError):
        import_log(path, log)
    assert len(log.read()) == 1
