"""The event log in the database: ids, order, redaction, leases."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import JsonValue
from sqlalchemy import insert, update

from patchwright.core.events.actions import Message, RunCommand, Think
from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import Source, ToolCall
from patchwright.core.events.types import Unknown
from patchwright.core.types.base import ConversationId
from patchwright.core.types.errors import LeaseLostError
from patchwright.workers.db.tables import conversations, events
from patchwright.workers.store.events import EventStore, SqlEventLog
from tests.adapters.store.world import LEASE_S, World
from tests.provision.starter import ready_starter

ID = ConversationId("c1")


@pytest.fixture
def log(world: World) -> SqlEventLog:
    return _new_log(world, lambda tree: tree)


def test_an_event_comes_back_as_it_was_appended(log: SqlEventLog) -> None:
    call = ToolCall(id="t1", name="shell", arguments='{"command": "ls \\u0000 é"}')
    reply = ModelReply(text="I look. \x00 ∂", tool_calls=(call,))
    appended = log.append(Source.AGENT, reply)
    action = log.append(Source.AGENT, RunCommand(command="ls"), cause=appended.id)
    assert (appended.id, action.id, action.cause) == (1, 2, 1)
    assert appended.payload == reply
    assert list(log.read()) == [appended, action]


def test_a_range_is_read_forwards_backwards_and_by_kind(log: SqlEventLog) -> None:
    for number in range(1, 7):
        payload = Message(text="m") if number % 2 else Think(thought="t")
        log.append(Source.USER, payload)
    assert _ids(log.read(2, 4)) == [2, 3, 4]
    assert _ids(log.read(5)) == [5, 6]
    assert _ids(log.read(limit=2)) == [1, 2]
    assert _ids(log.read(reverse=True, limit=2)) == [6, 5]
    assert _ids(log.read(kinds=frozenset({"think"}))) == [2, 4, 6]
    assert _ids(log.read(kinds=frozenset())) == []


def test_conversations_count_apart(world: World, log: SqlEventLog) -> None:
    other = _new_log(world, lambda tree: tree, ConversationId("c2"))
    log.append(Source.USER, Message(text="a"))
    assert other.append(Source.USER, Message(text="b")).id == 1
    assert len(other.read()) == 1


def test_secrets_are_gone_before_anything_is_stored(world: World) -> None:
    log = _new_log(world, _without("hunter2"))
    appended = log.append(Source.AGENT, RunCommand(command="echo hunter2"))
    assert appended.payload == RunCommand(command="echo ***")
    assert list(log.read()) == [appended]
    assert "hunter2" not in str(world.rows(events))


def test_half_a_character_is_stored_as_one_that_can_be_read(log: SqlEventLog) -> None:
    log.append(Source.USER, Message(text="broken \ud83d here"))
    [event] = log.read()
    assert event.payload == Message(text="broken \ufffd here")


def test_a_kind_of_a_newer_version_is_read_all_the_same(
    world: World, log: SqlEventLog
) -> None:
    log.append(Source.AGENT, Think(thought="t"))
    newer = {"kind": "dream", "payload": json.dumps({"kind": "dream", "of": "sheep"})}
    with world.database.writing() as connection:
        connection.execute(update(events).values(newer))
    [event] = log.read()
    assert isinstance(event.payload, Unknown)
    assert event.payload.model_dump()["of"] == "sheep"


def test_ids_have_no_gap_with_writers_in_threads_and_processes(
    world: World, log: SqlEventLog
) -> None:
    url = world.database.engine.url.render_as_string(hide_password=False)
    writer = ("tests.adapters.store.append_many", url, ID, "50")
    processes = [ready_starter().start_module(*writer) for _ in range(2)]
    with ThreadPoolExecutor(4) as threads:
        for number in range(200):
            threads.submit(log.append, Source.AGENT, Think(thought=str(number)))
    assert [process.wait(30) for process in processes] == [0, 0]
    assert _ids(log.read()) == list(range(1, 301))


def test_only_the_newest_lease_appends(world: World) -> None:
    job_id = world.ask()
    conversation_id = world.conversation(job_id)
    first = world.events.open(conversation_id, world.claim(job_id, "w1"))
    first.append(Source.AGENT, Think(thought="mine"))
    world.clock.advance(LEASE_S)
    second = world.events.open(conversation_id, world.claim(job_id, "w2"))
    with pytest.raises(LeaseLostError):
        first.append(Source.AGENT, Think(thought="late"))
    assert second.append(Source.AGENT, Think(thought="mine now")).id == 2
    assert (
        world.events.open(conversation_id)
        .append(Source.USER, Message(text="people need no lease"))
        .id
        == 3
    )


def test_appending_to_a_conversation_that_is_not_there_is_an_error(
    world: World,
) -> None:
    nowhere = world.events.open(ConversationId("nowhere"))
    with pytest.raises(LookupError, match="nowhere"):
        nowhere.append(Source.USER, Message(text="hello?"))


def _new_log(
    world: World,
    redact: Callable[[JsonValue], JsonValue],
    conversation_id: ConversationId = ID,
) -> SqlEventLog:
    row = {
        "id": conversation_id,
        "repo": "github:acme/shop",
        "title": "",
        "created_at": world.clock.now(),
    }
    with world.database.writing() as connection:
        connection.execute(insert(conversations).values(row))
    store = EventStore(world.database, redact, world.clock, world.notifier)
    return store.open(conversation_id)


def _without(secret: str) -> Callable[[JsonValue], JsonValue]:
    def redact(tree: JsonValue) -> JsonValue:
        clean: JsonValue = json.loads(json.dumps(tree).replace(secret, "***"))
        return clean

    return redact


def _ids(found: object) -> list[int]:
    assert isinstance(found, list)
    return [event.id for event in found]
