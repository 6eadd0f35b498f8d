"""A run as a document: written, read, and understood by older and newer readers."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.events.types import Event, Known, Unknown
from patchwright.core.replay.trajectory import (
    Trajectory,
    TrajectoryError,
    choose_run,
    facts_of,
    read_run,
    split_runs,
    write_trajectory,
)
from patchwright.core.types.errors import SettingsError
from tests.unit.trajectory.recorded import asked, numbered, outcome, started, whole_run

PAGE = Path(__file__).parents[3] / "docs" / "trajectory.md"
COMMON = {"kind", "call_id", "agent", "risk"}

names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8)
values = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
fields = st.dictionaries(names.map(lambda name: f"new_{name}"), values, max_size=3)


def example() -> dict[str, object]:
    """Return the document that the page shows."""
    [text] = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    document: dict[str, object] = json.loads(text)
    return document


def to_trajectory(events: list[Event]) -> Trajectory:
    stored = tuple(event.model_dump(mode="json") for event in events)
    return Trajectory(run=facts_of(events), events=stored)


def test_the_documented_example_is_one(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(example(), indent=2))
    run = read_run(path)
    assert run.trajectory.run == facts_of(run.events)
    assert run.trajectory.run.outcome == "answered"
    assert len(run.events) == 11


def test_the_page_names_every_field_of_every_kind() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ?(.*)\|$", PAGE.read_text(), re.MULTILINE)
    documented = {kind: set(re.findall(r"`(\w+)`", text)) for kind, text in rows}
    for payload in get_args(Known):
        kind = payload.model_fields["kind"].default
        assert set(payload.model_fields) - COMMON <= documented[kind], kind


def test_a_document_is_what_was_written(tmp_path: Path) -> None:
    events = whole_run()
    path = tmp_path / "run.json"
    write_trajectory(to_trajectory(events), path)
    assert read_run(path).events == events
    with pytest.raises(FileExistsError):
        write_trajectory(to_trajectory(events), path)


@given(fields, fields, fields, names)
def test_what_nobody_here_knows_survives_both_ways(
    tmp_path_factory: pytest.TempPathFactory,
    at_top: dict[str, object],
    in_event: dict[str, object],
    in_payload: dict[str, object],
    kind: str,
) -> None:
    folder = tmp_path_factory.mktemp("trajectory")
    raw = to_trajectory(whole_run()).model_dump(mode="json")
    newer = {"kind": f"new_{kind}", "call_id": "", "agent": "", **in_payload}
    raw["events"][4] |= in_event | {"payload": newer}
    raw["events"][5]["payload"] |= in_payload
    raw |= at_top
    first, log = folder / "first.json", folder / "log.jsonl"
    first.write_text(json.dumps(raw))
    run = read_run(first)
    assert isinstance(run.events[4].payload, Unknown)
    write_trajectory(run.trajectory, folder / "second.json")
    assert json.loads((folder / "second.json").read_text()) == raw
    log.write_text("".join(f"{json.dumps(one)}\n" for one in raw["events"]))
    assert list(read_run(log).trajectory.events) == raw["events"]


def test_a_cut_off_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [one.model_dump_json() for one in whole_run()]
    path.write_text("\n".join(lines)[:-20])
    run = read_run(path)
    assert len(run.events) == len(run.trajectory.events) == len(lines) - 1
    assert run.trajectory.run.outcome is None


def test_an_event_that_is_missing_is_named(tmp_path: Path) -> None:
    raw = to_trajectory(whole_run()).model_dump(mode="json")
    del raw["events"][3]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(raw))
    with pytest.raises(TrajectoryError, match="event 4: its id is 5 after 3"):
        read_run(path)


def test_an_event_that_is_wrong_is_named(tmp_path: Path) -> None:
    raw = to_trajectory(whole_run()).model_dump(mode="json")
    raw["events"][4]["payload"]["command"] = 7
    path = tmp_path / "run.json"
    path.write_text(json.dumps(raw))
    with pytest.raises(TrajectoryError, match=r"event 5: payload.*command"):
        read_run(path)


def test_a_later_run_keeps_its_ids(tmp_path: Path) -> None:
    one = [started("aaa"), asked(), outcome()]
    events = numbered([asked("before"), *one, started("bbb"), asked(), outcome()])
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{event.model_dump_json()}\n" for event in events))
    run = read_run(path, "bbb")
    assert [event.id for event in run.events] == [5, 6, 7]
    write_trajectory(run.trajectory, tmp_path / "run.json")
    assert read_run(tmp_path / "run.json").events == run.events
    assert [len(each) for each in split_runs(events)] == [4, 3]


def test_a_log_without_a_start_is_one_run() -> None:
    events = numbered([asked(), outcome()])
    assert choose_run(events, None, "log") == events
    assert facts_of(events).base_branch == "trunk"
    assert choose_run(events, "", "log") == events


def test_a_run_that_is_named_by_too_little_is_asked_for() -> None:
    events = numbered([started("aa"), asked(), started("ab"), asked()])
    with pytest.raises(SettingsError, match="more than one run id begins with 'a'"):
        choose_run(events, "a", "log")
    assert choose_run(events, "ab", "log") == events[2:]


def test_a_run_that_is_taken_up_again_does_not_begin_anew() -> None:
    events = numbered([started("aa"), asked(), outcome(waits=True), asked(), outcome()])
    assert split_runs(events) == [events]
    assert Trajectory.model_validate(to_trajectory(events).model_dump()).version == 1
    assert isinstance(events[0], Event)
