"""How fast events are stored, one commit each, and read again."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.figures import Figure, rate, took_s
from patchwright.core.clock import SystemClock
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
        clock = SystemClock()
        row = {"id": "1", "repo": "r", "title": "t", "created_at": clock.now()}
        with database.writing() as connection:
            connection.execute(conversations.insert().values(**row))
        store = EventStore(database, redactor.redact_json, clock, Doorbell())
        yield store.open(ConversationId("1"))


def _append(log: SqlEventLog, times: int) -> None:
    for _ in range(times):
        log.append(Source.ENVIRONMENT, OUTPUT, 1)


def _append_rows(path: Path) -> None:
    """Store as many texts as large in plain SQLite, set up as ours is."""
    text = OUTPUT.model_dump_json()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, text TEXT)")
        for _ in range(PART):
            connection.execute("INSERT INTO events (text) VALUES (?)", [text])
