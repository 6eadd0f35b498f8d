"""Files of events: what is kept, and what is said of a bad line."""

import json
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.events.actions import Message
from patchwright.core.events.jsonl import (
    EventFileError,
    JsonlEventLog,
    LogNotEmptyError,
    export_log,
    import_log,
    read_entries,
    read_events,
)
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Unknown
from patchwright.core.text.redaction import REDACTED, Redactor
from tests.fakes.clock import FakeClock

AT = "2030-01-01T12:00:00Z"


def line(number: int, **payload: Any) -> str:
    event = {"id": number, "at": AT, "source": "user", "payload": payload}
    return json.dumps(event) + "\n"


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_kinds_and_fields_of_other_versions_are_read(tmp_path: Path) -> None:
    path = write(
        tmp_path / "log",
        line(1, kind="message", text="hello", mood="good"),
        line(2, kind="dream", of={"sheep": 3}),
    )
    known, unknown = read_events(path)
    assert known.payload == Message(text="hello")
    assert isinstance(unknown.payload, Unknown)
    assert unknown.payload.model_dump()["of"] == {"sheep": 3}
    assert [entry.payload.get("mood") for entry in read_entries(path)] == ["good", None]


@pytest.mark.parametrize(
    ("second", "complaint"),
    [
        (line(3, kind="message", text="x"), "line 2: its id is 3, not 2"),
        (line(1, kind="message", text="x"), "line 2: its id is 1, not 2"),
        (line(2, kind="message"), "line 2: payload.known.message.text: Field required"),
        (line(2), "line 2: payload.unknown.kind: Field required"),
        (line(2).replace("{}", "[]"), "line 2: payload: Input should be"),
        ("\n", "line 2: Invalid JSON"),
        ("no secret\n", "line 2: Invalid JSON"),
        ("[]\n", "line 2: Input should be an object"),
    ],
)
def test_the_first_bad_line_is_named(
    tmp_path: Path, second: str, complaint: str
) -> None:
    first, third = line(1, kind="message", text="x"), line(3, kind="null")
    path = write(tmp_path / "log", first, second, third)
    with pytest.raises(EventFileError) as refusal:
        read_events(path)
    assert refusal.value.line == 2
    assert complaint in str(refusal.value)
    assert "no secret" not in str(refusal.value)


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    whole, half = line(1, kind="null"), line(2, kind="null")[:-9]
    assert len(read_events(write(tmp_path / "cut", whole, half))) == 1
    whole_too = line(2, kind="null").rstrip()
    assert len(read_events(write(tmp_path / "whole", whole, whole_too))) == 2


def test_an_empty_file_is_an_empty_log(tmp_path: Path) -> None:
    assert list(read_events(write(tmp_path / "log"))) == []


def test_a_log_moves_by_file_and_loses_nothing_but_secrets(tmp_path: Path) -> None:
    old = write(
        tmp_path / "old",
        line(1, kind="message", text="the secret is hunter22", mood="good"),
        line(2, kind="dream", of="hunter22"),
    )
    redactor = Redactor(["hunter22"])
    with JsonlEventLog(tmp_path / "new", redactor.redact_json, FakeClock()) as log:
        assert import_log(old, log) == 2
        log.append(Source.USER, Message(text="and on it goes"))
        with (tmp_path / "exported").open("w") as file:
            assert export_log(log, file) == 3
        assert read_events(tmp_path / "exported") == log.read()
    first, second, third = read_entries(tmp_path / "exported")
    assert first.payload["mood"] == "good"
    assert second.payload == {"kind": "dream", "of": REDACTED}
    assert third.payload["text"] == "and on it goes"


def test_a_log_that_has_events_takes_no_others_in(tmp_path: Path) -> None:
    old = write(tmp_path / "old", line(1, kind="null"))
    with JsonlEventLog(tmp_path / "new", lambda tree: tree, FakeClock()) as log:
        log.append(Source.USER, Message(text="mine"))
        with pytest.raises(LogNotEmptyError):
            import_log(old, log)
        assert len(log.read()) == 1
