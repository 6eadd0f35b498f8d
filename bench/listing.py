"""How fast the list of runs is with many runs, in both databases."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import httpx
import sqlalchemy as sa

from bench.figures import Metric, p50_p95, took_s
from patchwright.core.types.base import JobId
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Limits, Outcome, Usage
from patchwright.resolver.job import JobState
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations, jobs, run_rows, threads
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.runs.listing import Cursor, RunListing
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import RunFilter
from patchwright.workers.runs.selection import RunStage
from patchwright.workers.store.run_rows import columns_of, outcome_columns
from tests.adapters.store.world import World
from tests.adapters.web.watching import watching
from tests.provision.postgres_server import postgres_server

RUNS = 100_000
REPOSITORIES = 500
PEOPLE = 1_000
QUEUED = 50
TIMES = 50
_AT_ONCE = 2_000
_BEGAN_AT = datetime(2026, 1, 1, tzinfo=UTC)
_BETWEEN = timedelta(minutes=5)


def measure() -> Iterator[Metric]:
    with tempfile.TemporaryDirectory(prefix="patchwright-bench-") as folder:
        in_sqlite = _measure(f"sqlite:///{folder}/bench.db")
    with postgres_server() as server, server.fresh_database("bench") as url:
        in_postgresql = _measure(url)
    for what, each_s in in_sqlite.items():
        beside = f"PostgreSQL: {p50_p95(in_postgresql[what])}"
        yield Metric(f"{what}, of {RUNS:,}", f"SQLite: {p50_p95(each_s)}", beside)


def _measure(url: str) -> dict[str, list[float]]:
    with closing(Database(url)) as database:
        upgrade(database)
        _fill(database)
        return _times(database)


def _times(database: Database) -> dict[str, list[float]]:
    world = World(database)
    reader = RunReader(world.jobs, world.events, world.outcomes, world.effects)
    listing = RunListing(database, reader)
    deep = Cursor(_BEGAN_AT + _BETWEEN * (RUNS // 10), "")

    def in_few(repo: RepoRef, _is_private: bool) -> bool:  # noqa: FBT001 - `MaySee`
        return repo.full_name.endswith("7")

    acts: dict[str, Callable[[], object]] = {
        "first page": lambda: listing.page(RunFilter()),
        "deep page": lambda: listing.page(RunFilter(), after=deep),
        "a repository": lambda: listing.page(RunFilter(repo="acme/shop-7")),
        "a person": lambda: listing.page(RunFilter(requester="person-7")),
        "an outcome": lambda: listing.page(RunFilter(outcome=OutcomeKind.STUCK)),
        "what waits": lambda: listing.page(RunFilter(stage=RunStage.QUEUED)),
        "a word in one title": lambda: listing.page(RunFilter(text="no. 4711 ")),
        "first page of who reads a tenth": lambda: listing.page(
            RunFilter(), may_see=in_few
        ),
    }
    taken = {what: _each_s(act) for what, act in acts.items()}
    with watching(database) as site, httpx.Client(headers=site.as_admin) as browser:
        taken["first page, by HTTP"] = _each_s(lambda: browser.get(f"{site.url}/runs"))
    return taken


def _each_s(act: Callable[[], object]) -> list[float]:
    act()
    return [took_s(act) for _ in range(TIMES)]


def _fill(database: Database) -> None:
    numbers = iter(range(RUNS))
    while part := list(islice(numbers, _AT_ONCE)):
        rows = [_rows_of(number) for number in part]
        with database.writing() as connection:
            for table, place in _TABLES:
                connection.execute(sa.insert(table), [one[place] for one in rows])
    if not database.is_sqlite:
        # As the server does by itself within a minute.
        with database.writing() as connection:
            connection.execute(sa.text("ANALYZE"))


_TABLES = ((conversations, 0), (threads, 1), (jobs, 2), (run_rows, 3))


def _rows_of(number: int) -> tuple[dict[str, Any], ...]:
    """Return the rows of a run: of its conversation, thread, job and list."""
    job_id, conversation_id = JobId(f"{number:032x}"), f"c{number}"
    at = _BEGAN_AT + _BETWEEN * number
    repo = f"acme/shop-{number * 7919 % REPOSITORIES}"
    title = f"The sum is wrong in case no. {number} of the cart"
    outcome = None if number >= RUNS - QUEUED else _OUTCOMES[_kind_of(number)]
    job = {
        "id": job_id,
        "conversation_id": conversation_id,
        "state": JobState.DONE if outcome else JobState.QUEUED,
        "trigger": _TRIGGER_TEXT,
        "kind": _TRIGGER.kind,
        "created_at": at,
        "queued_at": at,
        "ended_at": at if outcome else None,
        "outcome": outcome[0] if outcome else None,
    }
    row = {
        **_COLUMNS,
        "job_id": job_id,
        "conversation_id": conversation_id,
        "created_at": at,
        "repo": repo,
        "title": title,
        "requester": f"person-{number * 104_729 % PEOPLE}",
        **(outcome[1] if outcome else _NO_OUTCOME),
        "limits": _LIMITS,
    }
    conversation = {
        "id": conversation_id,
        "repo": f"github:{repo}",
        "title": title,
        "created_at": at,
    }
    thread = {
        "key": f"github:{repo}#{number}",
        "kind": ThreadKind.ISSUE,
        "conversation_id": conversation_id,
        "linked_at": at,
    }
    return conversation, thread, job, row


_REPO = RepoRef(forge="github", full_name="acme/shop-0")
_TRIGGER = Trigger(
    key="k1",
    kind=TriggerKind.BODY_MENTION,
    actor=Actor(service="github", login="person-0", external_id="1"),
    thread=ForgeThread(repo=_REPO, kind=ThreadKind.ISSUE, number=1),
    request="fix it",
    title="The sum is wrong",
    body="It is wrong for several pieces, and right for one.\n" * 20,
)
_COLUMNS = columns_of(_TRIGGER)
_TRIGGER_TEXT = _TRIGGER.model_dump_json()
_LIMITS = Limits().model_dump_json()
_NO_OUTCOME = {"outcome": "", "reason": "", "proof": "", "steps": 0, "usage": None}
_KINDS = (OutcomeKind.RESOLVED, OutcomeKind.ANSWERED, OutcomeKind.NO_CHANGE)


def _kind_of(number: int) -> OutcomeKind:
    is_rare = number % 997 == 0
    return OutcomeKind.STUCK if is_rare else _KINDS[number % len(_KINDS)]


def _outcome(kind: OutcomeKind) -> tuple[str, dict[str, object]]:
    """Return it as its job keeps it, and as the list does."""
    outcome = Outcome(
        kind=kind,
        proof=Proof.PROVEN if kind is OutcomeKind.RESOLVED else Proof.NONE,
        summary="The pieces were not counted, and are now.\n" * 20,
        usage=Usage(cost_usd=0.41, tokens_in=90_000, tokens_out=8_000),
        iterations=12,
    )
    return outcome.model_dump_json(), outcome_columns(outcome)


_OUTCOMES = {kind: _outcome(kind) for kind in (*_KINDS, OutcomeKind.STUCK)}
