"""A log in a file: dense ids, no secrets, and readers that hold nobody up."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from patchwright.core.events.actions import Message, RunCommand, Think
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event
from patchwright.core.text.redaction import Redactor
from tests.fakes.clock import START, FakeClock

SECRET = "correct-horse-battery-staple"
PATIENCE_S = 10


@pytest.fixture
def log(tmp_path: Path) -> Iterator[JsonlEventLog]:
    redactor = Redactor([SECRET])
    path = tmp_path / "runs" / "1.jsonl"
    with JsonlEventLog(path, redactor.redact_json, FakeClock()) as log:
        yield log


def say(log: JsonlEventLog, *texts: str) -> None:
    for text in texts:
        log.append(Source.USER, Message(text=text))


def text(event: Event) -> str:
    assert isinstance(event.payload, Message)
    return event.payload.text


def test_half_a_character_is_stored_as_one_that_can_be_read(log: JsonlEventLog) -> None:
    say(log, "broken \ud83d here")
    assert [text(event) for event in log.read()] == ["broken \ufffd here"]


def test_one_line_is_one_event(log: JsonlEventLog, tmp_path: Path) -> None:
    log.append(Source.AGENT, Think(thought="Line one.\nLine two."), cause=None)
    log.append(Source.AGENT, RunCommand(command="ls"), cause=1)
    lines = (tmp_path / "runs" / "1.jsonl").read_text().splitlines()
    assert [Event.model_validate_json(line) for line in lines] == list(log.read())
    assert [json.loads(line)["id"] for line in lines] == [1, 2]


def test_append_returns_what_was_stored(log: JsonlEventLog) -> None:
    event = log.append(Source.USER, Message(text="hello"), cause=None)
    assert (event.id, event.at, event.source) == (1, START, Source.USER)
    assert list(log.read()) == [event]


def test_secrets_are_taken_out_before_anything_is_stored(
    log: JsonlEventLog, tmp_path: Path
) -> None:
    command = RunCommand(command=f"curl -H 'Authorization: Bearer {SECRET}'")
    event = log.append(Source.AGENT, command)
    assert SECRET not in event.model_dump_json()
    assert SECRET not in (tmp_path / "runs" / "1.jsonl").read_text()


def test_an_old_file_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "1.jsonl"
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        JsonlEventLog(path, _as_it_is, FakeClock())
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({}, ["a", "b", "c", "d"]),
        ({"start_id": 2, "end_id": 3}, ["b", "c"]),
        ({"start_id": 0}, ["a", "b", "c", "d"]),
        ({"start_id": 5}, []),
        ({"limit": 2}, ["a", "b"]),
        ({"reverse": True, "limit": 1}, ["d"]),
        ({"kinds": frozenset({"think"})}, []),
    ],
)
def test_a_part_can_be_read(
    log: JsonlEventLog, options: dict[str, JsonValue], texts: list[str]
) -> None:
    say(log, "a", "b", "c", "d")
    found = log.read(**options)  # type: ignore[arg-type] # a table of keywords
    assert [text(event) for event in found] == texts


def test_ids_are_dense_with_several_writers(log: JsonlEventLog) -> None:
    writers = [
        threading.Thread(target=say, args=(log, *map(str, range(50)))) for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [event.id for event in log.read()] == list(range(1, 201))


def test_a_reader_sees_what_was_and_what_comes_once_and_in_order(
    log: JsonlEventLog,
) -> None:
    seen: list[int] = []
    say(log, "a", "b", "c")
    with log.subscribe(lambda event: seen.append(event.id), after_id=1):
        say(log, "d", "e")
    assert seen == [2, 3, 4, 5]


def test_leaving_waits_until_all_is_read(log: JsonlEventLog) -> None:
    may_go_on, seen = threading.Event(), []

    def read_slowly(event: Event) -> None:
        assert may_go_on.wait(PATIENCE_S)
        seen.append(event.id)

    with log.subscribe(read_slowly):
        say(log, *map(str, range(20)))
        may_go_on.set()
    assert seen == list(range(1, 21))


def test_a_slow_reader_holds_up_neither_the_writer_nor_another_reader(
    log: JsonlEventLog,
) -> None:
    may_go_on, all_seen = threading.Event(), threading.Event()
    with (
        log.subscribe(lambda _event: _wait(may_go_on)),
        log.subscribe(lambda event: all_seen.set() if event.id == 100 else None),
    ):
        say(log, *map(str, range(100)))
        assert all_seen.wait(PATIENCE_S)
        assert not may_go_on.is_set()
        may_go_on.set()


def test_a_failing_reader_does_not_hurt_another(log: JsonlEventLog) -> None:
    seen: list[int] = []

    def fail(event: Event) -> None:
        raise RuntimeError(f"cannot read {event.id}")

    with log.subscribe(fail), log.subscribe(lambda event: seen.append(event.id)):
        say(log, "a", "b", "c")
    assert seen == [1, 2, 3]


def test_a_reader_that_failed_once_is_told_the_next_event(log: JsonlEventLog) -> None:
    seen: list[int] = []

    def fail_at_first(event: Event) -> None:
        if event.id == 1:
            raise RuntimeError("not ready")
        seen.append(event.id)

    with log.subscribe(fail_at_first):
        say(log, "a", "b")
    assert seen == [2]


def _wait(until: threading.Event) -> None:
    assert until.wait(PATIENCE_S)


def _as_it_is(tree: JsonValue) -> JsonValue:
    return tree
