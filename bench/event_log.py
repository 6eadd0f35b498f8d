"""How fast events are stored, one commit each, and read again."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.figures import CLOCK, Metric, ms, rate, took_s
from bench.seen import seen_after_s, seen_from_afar_s
from patchwright.core.events.observations import CommandOutput
from patchwright.core.events.payload import Source
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import ConversationId
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.events import EventStore, SqlEventLog
from patchwright.workers.store.notifier import open_notifier

EVENTS = 100_000
PART = 2_000
READ = 20_000
PAGES = 100
SEEN = 200
OUTPUT = CommandOutput(exit_code=0, output="collected 12 items\n" * 68, call_id="c1")


def measure() -> Iterator[Metric]:
    with tempfile.TemporaryDirectory(prefix="patchwright-bench-") as folder:
        plain_s = took_s(lambda: _append_rows(Path(folder, "plain.db")))
        plain = f"SQLite, one row a commit: {rate(PART, plain_s)}"
        ours = Path(folder, "ours.db")
        with opened_log(ours) as log:
            first_s = took_s(lambda: _append(log, PART))
            _append(log, EVENTS - 2 * PART)
            last_s = took_s(lambda: _append(log, PART))
            read_s = took_s(lambda: log.read(limit=READ))
            pages_s = [took_s(lambda: _read_page(log)) for _ in range(PAGES)]
            near_s, far_s = seen_after_s(log, SEEN), seen_from_afar_s(log, ours, SEEN)
    yield Metric(f"append, the first {PART:,}", rate(PART, first_s), plain)
    yield Metric(f"append, the last {PART:,} of {EVENTS:,}", rate(PART, last_s), plain)
    yield Metric("read", rate(READ, read_s))
    yield Metric(f"a page of 100 of two kinds, of {EVENTS:,}", ms(pages_s))
    yield Metric("begin of append to seen, in process", ms(near_s))
    yield Metric("begin of append to seen, across processes", ms(far_s))


def _read_page(log: SqlEventLog) -> None:
    kinds = frozenset({OUTPUT.kind, "message"})
    log.read(end_id=EVENTS // 2, limit=100, reverse=True, kinds=kinds)


@contextmanager
def opened_log(path: Path) -> Iterator[SqlEventLog]:
    """Open the log of a new conversation, as a worker does."""
    secrets = ["ghs_" + "a1" * 18, "sk-" + "b2" * 20, "correct horse battery staple"]
    redactor = Redactor(secrets)
    with closing(Database(f"sqlite:///{path}")) as database:
        upgrade(database)
        row = {"id": "1", "repo": "r", "title": "t", "created_at": CLOCK.now()}
        with database.writing() as connection:
            connection.execute(conversations.insert().values(**row))
        with open_notifier(database) as notifier:
            store = EventStore(database, redactor.redact_json, CLOCK, notifier)
            yield store.open(ConversationId("1"))


def _append(log: SqlEventLog, times: int) -> None:
    for _ in range(times):
        log.append(Source.ENVIRONMENT, OUTPUT, 1)


def _append_rows(path: Path) -> None:
    """Store the same events in plain SQLite, set up as ours is."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_PLAIN_TABLE)
        for number in range(PART):
            payload = json.dumps(OUTPUT.model_dump(mode="json"))
            at, kind = CLOCK.now().isoformat(), OUTPUT.kind
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_PLAIN_INSERT, ("1", number, at, kind, payload))
            connection.execute("COMMIT")


_PLAIN_TABLE = (
    "CREATE TABLE events (conversation TEXT, id INTEGER, at TEXT, kind TEXT, "
    "payload TEXT, PRIMARY KEY (conversation, id))"
)
_PLAIN_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?)"
