"""How fast events are stored, one commit each, and read again."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.figures import CLOCK, Figure, rate, took_s
from patchwright.core.events.doorbell import Doorbell
from patchwright.core.events.types import CommandOutput, Source
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.ids import ConversationId
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.events import EventStore, SqlEventLog

EVENTS = 20_000
PART = 2_000
OUTPUT = CommandOutput(exit_code=0, output="collected 12 items\n" * 68, call_id="c1")


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="patchwright-bench-") as folder:
        plain_s = took_s(lambda: _append_rows(Path(folder, "plain.db")))
        plain = f"SQLite, one row a commit: {rate(PART, plain_s)}"
        with opened_log(Path(folder, "ours.db")) as log:
            first_s = took_s(lambda: _append(log, PART))
            _append(log, EVENTS - 2 * PART)
            last_s = took_s(lambda: _append(log, PART))
            read_s = took_s(log.read)
    yield Figure(f"append, the first {PART:,}", rate(PART, first_s), plain)
    yield Figure(f"append, the last {PART:,} of {EVENTS:,}", rate(PART, last_s), plain)
    yield Figure("read", rate(EVENTS, read_s))


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
        store = EventStore(database, redactor.redact_json, CLOCK, Doorbell())
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
