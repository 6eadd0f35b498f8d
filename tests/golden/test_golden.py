"""Databases and logs of earlier versions are read without loss and can be resumed."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Select, select

from patchwright.core.events.jsonl import (
    JsonlEventLog,
    import_log,
    read_entries,
    read_events,
)
from patchwright.core.events.types import Event, Unknown
from patchwright.core.types.base import JobId, RandomIds, Value
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import JobState
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import artifacts, deliveries, effects, events, jobs
from patchwright.workers.db.upgrade import later_schema, missing_migrations, upgrade
from patchwright.workers.jobs.lease import Receipt
from patchwright.workers.runs.listing import RunListing
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import RunFilter, row_of_job
from patchwright.workers.store.effects import EffectStore
from tests.adapters.cli.conftest import shop
from tests.adapters.cli.terminal import Shop
from tests.adapters.git.workshop import WorkTree
from tests.fakes.clock import FakeClock
from tests.flow.story import REPO
from tests.golden import storage
from tests.golden.service import REMAINING_TURNS, finish_run, resumed_service
from tests.golden.snapshot import OF_ANOTHER_VERSION, contains, open_stores, snapshot

__all__ = ["shop"]


@pytest.fixture(params=storage.databases())
def name(request: pytest.FixtureRequest) -> str:
    recorded: str = request.param
    return recorded


@pytest.fixture(params=storage.schemas())
def schema(request: pytest.FixtureRequest) -> str:
    recorded: str = request.param
    return recorded


@pytest.fixture
def clock(name: str) -> FakeClock:
    """Return a clock that stands at the time of the recording."""
    return FakeClock(datetime.fromisoformat(storage.read_json(name)["at"]))


@pytest.fixture
def sqlite_url(name: str, tmp_path: Path) -> str:
    file = tmp_path / "patchwright.db"
    storage.load(name, file)
    return f"sqlite:///{file}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, sqlite_url: str, clock: FakeClock, tmp_path: Path
) -> Iterator[Database]:
    """Open a recorded database with today's code, in SQLite and in PostgreSQL."""
    url = sqlite_url
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
        with closing(Database(url)) as empty:
            storage.copy(tmp_path / "patchwright.db", empty)
    with closing(Database(url, clock=clock)) as opened:
        upgrade(opened)
        yield opened


def test_the_stores_return_what_was_recorded(
    name: str, database: Database, clock: FakeClock
) -> None:
    assert (missing_migrations(database), later_schema(database)) == ((), "")
    # JSON has neither tuples nor enumerations.
    found = json.loads(json.dumps(snapshot(database, clock)))
    assert contains(found, storage.read_json(name)["found"]) == []


def test_each_stored_field_is_read(sqlite_url: str) -> None:
    with closing(Database(sqlite_url)) as database:
        upgrade(database)
        with database.reading() as connection:
            lost = [*_lost_in_columns(connection), *_lost_in_events(connection)]
        assert lost == []
        assert _lost_in_effects(database) == []


def test_runs_of_before_are_listed_as_their_jobs_and_logs_tell_them(
    database: Database, clock: FakeClock
) -> None:
    stores = open_stores(database, clock, RandomIds())
    reader = RunReader(stores.jobs, stores.events, stores.outcomes, stores.effects)
    listed = list(RunListing(database, reader).every_row(RunFilter()))
    assert listed
    for row in listed:
        job = stores.jobs.load(JobId(row.id))
        assert job is not None
        told = row_of_job(job, reader.summarize(job, reader.span(job)))
        assert row.replace(position=None, requester_name="") == told


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("which", REMAINING_TURNS)
def test_an_unfinished_run_is_finished_with_one_pull_request(
    schema: str, which: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    name = f"{schema}/{which}"
    url = "" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    with resumed_service(name, tmp_path, REMAINING_TURNS[which], url) as story:
        asked = finish_run(story, name)
        assert asked == storage.read_json(f"{name}.asked")
        [job] = story.jobs()
        assert job.state is JobState.DONE
        [pull] = story.github.pull_requests(REPO)
        assert story.branches() == [pull.head_branch]
        assert f"patchwright:state=resolved run={job.id} " in story.reply(1)
        # The fake says a finish once more that the proof holds back.
        held_back = 1 if which == "confirming" else 0
        planned = len(REMAINING_TURNS[which]) + held_back
        assert len(story.provider.requests) == planned


def test_a_log_with_every_kind_is_read_from_its_file(
    schema: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.jsonl"
    file.write_bytes(storage.read(f"{schema}/samples.run.jsonl"))
    recorded = [json.loads(line) for line in file.read_text().splitlines()]
    found = [event.model_dump(mode="json") for event in read_events(file)]
    assert contains(found, recorded) == []
    with JsonlEventLog(tmp_path / "copy", lambda tree: tree, FakeClock()) as log:
        assert import_log(file, log) == len(recorded)
    assert list(read_entries(tmp_path / "copy")) == list(read_entries(file))


def test_a_run_of_the_command_line_replays_to_no_difference(
    schema: str, shop: Shop
) -> None:
    for file in ("run.jsonl", "run.json"):
        (shop.folder / file).write_bytes(storage.read(f"{schema}/command_line.{file}"))
    WorkTree.unpack(shop.folder / "sold", storage.read(f"{schema}/command_line.bundle"))
    ended = shop.call("replay", "run.jsonl", "--rerun", "-C", "sold", "--json")
    assert (ended.code, ended.answer["differences"]) == (0, []), ended


@pytest.mark.parametrize("file", ["run.jsonl", "run.json"])
def test_a_run_of_the_command_line_is_shown_as_it_was(
    schema: str, shop: Shop, file: str
) -> None:
    (shop.folder / file).write_bytes(storage.read(f"{schema}/command_line.{file}"))
    shown = shop.call("replay", file, "--json", "--export", "exported.json")
    assert shown.code == 0, shown
    assert (
        contains(shown.answer, storage.read_json(f"{schema}/command_line.shown")) == []
    )
    exported = json.loads((shop.folder / "exported.json").read_text())
    recorded = json.loads(storage.read(f"{schema}/command_line.run.json"))
    assert contains(exported, recorded) == []


def _lost_in_columns(connection: Connection) -> Iterator[str]:
    """Yield the stored fields that the models do not read."""
    plan = artifacts.c.name == PLAN_ARTIFACT
    columns: tuple[tuple[Select[Any], type[Value]], ...] = (
        (select(jobs.c.trigger), Trigger),
        (select(jobs.c.outcome), Outcome),
        (select(deliveries.c.trigger), Trigger),
        (select(effects.c.receipt), DeliveryResult),
        (select(artifacts.c.data).where(plan), RunPlan),
    )
    for query, kind in columns:
        for text in filter(None, connection.scalars(query)):
            stored = json.loads(text)
            # What was shown while a run works has another receipt than its result.
            shape = Receipt if kind is DeliveryResult and "seen_at" in stored else kind
            found = shape.model_validate(stored).model_dump(mode="json")
            yield from contains(found, stored)


def _lost_in_events(connection: Connection) -> Iterator[str]:
    columns = (events.c.id, events.c.at, events.c.source, events.c.payload)
    for row in connection.execute(select(*columns)):
        stored = json.loads(row.payload)
        event = Event.model_validate({**row._mapping, "payload": stored})
        if isinstance(event.payload, Unknown):
            yield f"{event.payload.kind} is not known"
        yield from contains(event.payload.model_dump(mode="json"), stored)


def _lost_in_effects(database: Database) -> list[str]:
    with database.reading() as connection:
        rows = connection.execute(select(effects.c.key, effects.c.effect)).all()
        ids = connection.scalars(select(jobs.c.id)).all()
    stored = {row.key: json.loads(row.effect) for row in rows}
    planned = [one for id_ in ids for one in EffectStore(database).of_job(JobId(id_))]
    assert {one.key for one in planned} == stored.keys()
    return [
        lost
        for one in planned
        if stored[one.key]["kind"] != OF_ANOTHER_VERSION
        for lost in contains(one.effect.model_dump(mode="json"), stored[one.key])
    ]
